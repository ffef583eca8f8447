import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { startOpenAiDouble, waitFor } from "@workflow/testkit";
import type { ModelDouble } from "@workflow/testkit";
import { makeAgent } from "../support/agents.ts";
import type { Answer } from "../support/api-client.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let openai: ModelDouble;
let system: WholeSystem;
let agentId: string;

beforeAll(async () => {
  openai = await startOpenAiDouble();
  system = await startWholeSystem({ agents: { openai } });
  agentId = await makeAgent(system, system.acme.key, {
    systemPrompt: "Say who pays.",
    outputSchema: { type: "object", properties: { payer: { type: ["string", "null"] } } },
  });
});
beforeEach(() => {
  openai.asked.length = 0;
  openai.reply = () => ({
    text: '{"payer":"Ada"}',
    usage: { inputTokens: 20, outputTokens: 5 },
  });
});
afterAll(async () => {
  await system.stop();
  await openai.close();
});

const evaluate = (body: unknown, id = agentId, key = system.acme.key): Promise<Answer> =>
  system.call("POST", `/agents/${id}/evaluate`, { body, key });

const CASE = { input: { text: "Ada pays." }, expect: { equals: { payer: "Ada" } } };

describe("POST /agents/{id}/evaluate", () => {
  it("names the agent as it is stored, however the request spells its id", async () => {
    const answer = await evaluate({ cases: [CASE] }, agentId.toUpperCase());
    expect(answer).toMatchObject({ status: 200, data: { agentId } });
  });

  it("answers how many cases passed, and of each what came of it", async () => {
    const cases = [
      { name: "by value", ...CASE },
      { ...CASE, expect: { equals: { payer: "Grace" } }, userMessage: "Mind the name." },
      { ...CASE, expect: { schema: { type: "object", required: ["payer"] } } },
      { ...CASE, expect: { expression: "$contains(input.text, output.payer)" } },
      { ...CASE, expect: { equals: null } },
    ];
    const { status, data } = await evaluate({ cases });
    expect(status).toBe(200);
    const usage = { inputTokens: 20, outputTokens: 5, totalTokens: 25 };
    const result = {
      name: null,
      passed: true,
      reason: null,
      output: { payer: "Ada" },
      schemaValid: true,
      usage,
      durationMs: expect.any(Number),
      error: null,
    };
    expect(data).toEqual({
      agentId,
      agentVersion: 1,
      passed: 3,
      failed: 2,
      total: 5,
      results: [
        { ...result, name: "by value" },
        { ...result, passed: false, reason: 'output.payer: expected "Grace", got "Ada".' },
        result,
        result,
        { ...result, passed: false, reason: 'output: expected null, got {"payer":"Ada"}.' },
      ],
      usage: { inputTokens: 100, outputTokens: 25, totalTokens: 125 },
      durationMs: expect.any(Number),
    });
  });

  it("judges a prompt before it becomes the agent's", async () => {
    openai.reply = ({ system: prompt }) => ({
      text: prompt.includes("Say who pays, in capitals.") ? '{"payer":"ADA"}' : '{"payer":"Ada"}',
    });
    const cases = [{ ...CASE, expect: { expression: "output.payer = $uppercase(output.payer)" } }];
    expect(await evaluate({ cases })).toMatchObject({ status: 200, data: { passed: 0 } });
    const systemPrompt = "Say who pays, in capitals.";
    expect(await evaluate({ cases, systemPrompt })).toMatchObject({
      status: 200,
      data: { passed: 1, agentVersion: 1 },
    });
    expect(await system.call("GET", `/agents/${agentId}`)).toMatchObject({
      data: { systemPrompt: "Say who pays.", version: 1 },
    });
  });

  it("tells what went wrong with a case, which then has no output", async () => {
    openai.reply = () => ({ trouble: "server-error" });
    const { status, data } = await evaluate({ cases: [CASE] });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      passed: 0,
      failed: 1,
      results: [
        {
          passed: false,
          reason: expect.any(String),
          output: null,
          schemaValid: null,
          error: {
            code: "AGENT_UNAVAILABLE",
            message: expect.any(String),
            details: { provider: "openai", status: 500 },
          },
        },
      ],
    });
  });

  it.each([
    ["no cases", {}, "cases"],
    ["no case", { cases: [] }, "cases"],
    ["51 cases", { cases: Array.from({ length: 51 }, () => CASE) }, "cases"],
    ["a case that is none", { cases: [CASE, 7] }, "cases.1"],
    ["a case without input", { cases: [{ expect: { equals: 1 } }] }, "cases.0.input"],
    ["input that is a list", { cases: [{ ...CASE, input: [] }] }, "cases.0.input"],
    ["a case without expectation", { cases: [{ input: {} }] }, "cases.0.expect"],
    ["an empty expectation", { cases: [{ input: {}, expect: {} }] }, "cases.0.expect"],
    ["an unknown one", { cases: [{ input: {}, expect: { equal: 1 } }] }, "cases.0.expect"],
    [
      "two expectations",
      { cases: [{ input: {}, expect: { equals: 1, expression: "true" } }] },
      "cases.0.expect",
    ],
    [
      "a schema that is none",
      { cases: [{ input: {}, expect: { schema: { type: "txt" } } }] },
      "cases.0.expect.schema.type",
    ],
    [
      "an expression that is none",
      { cases: [CASE, { input: {}, expect: { expression: "output = " } }] },
      "cases.1.expect.expression",
    ],
    [
      "wrong overrides",
      { cases: [CASE], overrides: { temperature: 2.1 } },
      "overrides.temperature",
    ],
    ["a prompt that is no text", { cases: [CASE], systemPrompt: 7 }, "systemPrompt"],
    ["an empty prompt", { cases: [CASE], systemPrompt: "" }, "systemPrompt"],
  ])("answers 400 to %s and asks nobody", async (_, body, path) => {
    const { status, error } = await evaluate(body);
    expect(status).toBe(400);
    expect(error).toMatchObject({
      code: "BAD_REQUEST",
      details: [{ path: path.split("."), message: expect.any(String) }],
    });
    expect(openai.asked).toHaveLength(0);
  });

  it("answers 413 to a body of more than 2 MiB", async () => {
    const text = "x".repeat(1_000_000);
    const cases = Array.from({ length: 3 }, () => ({ ...CASE, input: { text } }));
    expect(await evaluate({ cases })).toMatchObject({
      status: 413,
      error: { code: "PAYLOAD_TOO_LARGE" },
    });
  });

  it("answers 404 for an agent of another company, 400 for a deprecated one", async () => {
    const { key } = system.globex;
    expect(await evaluate({ cases: [CASE] }, agentId, key)).toMatchObject({
      status: 404,
      error: { code: "NOT_FOUND", message: "Agent not found" },
    });
    const theirs = await makeAgent(system, key);
    await system.call("DELETE", `/agents/${theirs}`, { key });
    expect(await evaluate({ cases: [CASE] }, theirs, key)).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST" },
    });
  });

  it("says NOT_CONFIGURED while the provider's key is not set", async () => {
    const claude = await makeAgent(system, system.acme.key, { provider: "anthropic" });
    expect(await evaluate({ cases: [CASE] }, claude)).toMatchObject({
      error: { code: "NOT_CONFIGURED", message: expect.stringContaining("ANTHROPIC_API_KEY") },
    });
    for (const what of ["test", "execute"]) {
      const body = { input: {} };
      expect(await system.call("POST", `/agents/${claude}/${what}`, { body })).toMatchObject({
        status: 400,
        error: { code: "NOT_CONFIGURED", message: expect.stringContaining("ANTHROPIC_API_KEY") },
      });
    }
  });

  it("answers 429 while another evaluation of the company is under way, and ends with its client", async () => {
    openai.reply = () => ({ trouble: "hangs" });
    const leaving = new AbortController();
    const first = fetch(`${system.origin}/api/v1/agents/${agentId}/evaluate`, {
      method: "POST",
      headers: { "x-api-key": system.acme.key, "content-type": "application/json" },
      body: JSON.stringify({ cases: [CASE] }),
      signal: leaving.signal,
    }).catch((error: unknown) => error);
    await waitFor(() => openai.asked.length === 1);
    const second = await evaluate({ cases: [CASE] });
    expect(second).toMatchObject({
      status: 429,
      error: { code: "RATE_LIMITED", details: { limit: "evaluations" } },
    });
    expect(second.headers.get("retry-after")).toBe("5");
    leaving.abort();
    await first;
    await waitFor(() => openai.asked[0]?.hungUp === true);
    openai.reply = () => '{"payer":"Ada"}';
    await waitFor(async () => (await evaluate({ cases: [CASE] })).status === 200);
  });
});
