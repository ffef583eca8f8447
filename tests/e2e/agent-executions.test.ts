import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startAnthropicDouble, startOpenAiDouble, waitFor } from "@workflow/testkit";
import type { ModelDouble } from "@workflow/testkit";
import { z } from "zod";
import { executeTestAgent, makeAgent } from "../support/agents.ts";
import { AGENT_MODELS, startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const usageSchema = z.strictObject({
  inputTokens: z.int(),
  outputTokens: z.int(),
  totalTokens: z.int(),
});
const errorSchema = z.strictObject({
  code: z.string(),
  message: z.string(),
  details: z.looseObject({}),
});
const listedSchema = z.strictObject({
  id: z.string().regex(/^aex_[0-9a-z]{26}$/),
  agentId: z.string(),
  agentVersion: z.int(),
  status: z.enum(["running", "completed", "failed", "cancelled"]),
  provider: z.enum(["openai", "anthropic"]),
  model: z.string(),
  usage: usageSchema,
  durationMs: z.int().nullable(),
  finishReason: z.string().nullable(),
  schemaValid: z.boolean().nullable(),
  repairAttempts: z.int(),
  warnings: z.array(z.string()),
  workflowRunId: z.string().nullable(),
  error: errorSchema.omit({ details: true }).nullable(),
  createdAt: z.iso.datetime(),
});
/** The fields of D43 and ours, not one more. */
const executionSchema = listedSchema.extend({
  input: z.unknown(),
  userMessage: z.string().nullable(),
  output: z.unknown(),
  rawOutput: z.string().nullable(),
  error: errorSchema.nullable(),
});
const testSchema = z.strictObject({
  output: z.unknown(),
  rawOutput: z.string(),
  usage: usageSchema,
  durationMs: z.int(),
  finishReason: z.string(),
  schemaValid: z.boolean(),
  repairAttempts: z.int(),
  warnings: z.array(z.string()),
  error: errorSchema.nullable(),
});

const SCHEMA = {
  type: "object",
  properties: { total: { type: "number" } },
  required: ["total"],
  additionalProperties: false,
};
const INPUT = { document: "Invoice 7" };

let openai: ModelDouble;
let anthropic: ModelDouble;
let system: WholeSystem;

beforeAll(async () => {
  openai = await startOpenAiDouble();
  anthropic = await startAnthropicDouble();
  system = await startWholeSystem({ agents: { openai, anthropic, tokensPerDay: 100_000 } });
});
afterAll(async () => {
  await system.stop();
  await openai.close();
  await anthropic.close();
});

const agentOf = (more = {}) => makeAgent(system, system.acme.key, more);

describe("POST /agents/{id}/execute", () => {
  it("answers with the record, which can be read and listed", async () => {
    const id = await agentOf({ outputSchema: SCHEMA });
    openai.script.push({ text: '{"total":7}', usage: { inputTokens: 20, outputTokens: 5 } });
    const answer = await system.call("POST", `/agents/${id}/execute`, {
      raw: '{"input": {"document": "Invoice 7", "amount": 1.0}, "userMessage": "Now.", "workflowRunId": "run_1"}',
    });
    expect(answer.status).toBe(200);
    // JSON that callers own is text (ADR 17).
    expect(answer.text).toContain('"input":{"document": "Invoice 7", "amount": 1.0}');
    const execution = executionSchema.parse(answer.data);
    expect(execution).toMatchObject({
      agentId: id,
      agentVersion: 1,
      status: "completed",
      userMessage: "Now.",
      output: { total: 7 },
      rawOutput: '{"total":7}',
      provider: "openai",
      model: AGENT_MODELS.openai,
      usage: { inputTokens: 20, outputTokens: 5, totalTokens: 25 },
      finishReason: "stop",
      schemaValid: true,
      repairAttempts: 0,
      workflowRunId: "run_1",
      error: null,
    });
    const path = `/agents/${id}/executions`;
    const read = await system.call("GET", `${path}/${execution.id}`);
    expect(read.data).toEqual(answer.data);
    const list = await system.call("GET", path);
    expect(list.meta).toEqual({ cursor: null, hasMore: false });
    const { input, userMessage, output, rawOutput, ...listed } = execution;
    expect([input, userMessage, output, rawOutput]).not.toContain(null);
    expect(z.array(listedSchema).parse(list.data)).toEqual([listed]);
  });

  it("answers 200 for an answer that was paid and does not fit", async () => {
    const id = await agentOf({ outputSchema: SCHEMA });
    openai.script.push("no", "no", "no");
    const body = { input: INPUT };
    const answer = await system.call("POST", `/agents/${id}/execute`, { body });
    expect(answer.status).toBe(200);
    expect(executionSchema.parse(answer.data)).toMatchObject({
      status: "failed",
      output: null,
      rawOutput: "no",
      schemaValid: false,
      repairAttempts: 2,
      error: { code: "AGENT_OUTPUT_INVALID" },
    });
  });

  it("answers 502 where the provider gave none, says when to come again, and keeps that", async () => {
    for (const [provider, double] of [
      ["openai", openai],
      ["anthropic", anthropic],
    ] as const) {
      const id = await agentOf({ provider });
      double.script.push({ trouble: "rate-limited", headers: { "retry-after": "9" } });
      const asked = double.requests.length;
      const answer = await system.call("POST", `/agents/${id}/execute`, { body: { input: INPUT } });
      expect(answer).toMatchObject({
        status: 502,
        error: {
          code: "UPSTREAM_ERROR",
          details: { provider, status: 429, code: "AGENT_RATE_LIMITED" },
        },
      });
      expect(answer.headers.get("retry-after")).toBe("9");
      // Nobody on the way tries again: that might be paid twice.
      expect(double.requests).toHaveLength(asked + 1);
      const { data } = await system.call("GET", `/agents/${id}/executions`);
      expect(z.array(listedSchema).parse(data)).toMatchObject([
        { status: "failed", schemaValid: null, error: { code: "AGENT_RATE_LIMITED" } },
      ]);
    }
  });

  it("is cancelled when its client goes away", async () => {
    const id = await agentOf();
    openai.script.push({ trouble: "hangs" });
    const before = openai.asked.length;
    const client = new AbortController();
    const request = fetch(`${system.origin}/api/v1/agents/${id}/execute`, {
      method: "POST",
      headers: { "x-api-key": system.acme.key, "content-type": "application/json" },
      body: JSON.stringify({ input: INPUT }),
      signal: client.signal,
    }).catch(() => null);
    await waitFor(() => openai.asked.length > before);
    client.abort();
    await request;
    await waitFor(() => openai.asked.at(-1)?.hungUp === true, { what: "the provider to see it" });
    const execution = await waitFor(async () => {
      const { data } = await system.call("GET", `/agents/${id}/executions`);
      return (
        z
          .array(listedSchema)
          .parse(data)
          .find(({ status }) => status !== "running") ?? null
      );
    });
    expect(execution).toMatchObject({ status: "cancelled", error: { code: "AGENT_CANCELLED" } });
  });

  it("answers 400 that names a core agent's variable", async () => {
    const answer = await system.call("POST", "/agents/agent_extraction/execute", {
      body: { input: { document: 7 } },
    });
    expect(answer).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: [{ path: ["input", "document"] }] },
    });
  });

  it("answers 413 for more than a MiB of input", async () => {
    const id = await agentOf();
    const body = { input: { document: "x".repeat(1024 * 1024) } };
    const answer = await system.call("POST", `/agents/${id}/execute`, { body });
    expect(answer).toMatchObject({ status: 413, error: { code: "PAYLOAD_TOO_LARGE" } });
  });

  it("answers 429 when the company's tokens of the day are used up, and others go on", async () => {
    const { key } = system.globex;
    const id = await makeAgent(system, key);
    openai.script.push({ text: "Hi", usage: { inputTokens: 100_000, outputTokens: 1 } });
    await executeTestAgent(system, key, id);
    const body = { input: INPUT };
    for (const verb of ["execute", "test"]) {
      const refused = await system.call("POST", `/agents/${id}/${verb}`, { key, body });
      expect(refused).toMatchObject({
        status: 429,
        error: { code: "RATE_LIMITED", details: { limit: "agentTokens", tokensPerDay: 100_000 } },
      });
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    openai.script.push("Hi");
    const own = await agentOf();
    expect(await system.call("POST", `/agents/${own}/execute`, { body })).toMatchObject({
      status: 200,
    });
  });
});

describe("POST /agents/{id}/test", () => {
  it("answers what D43 says and leaves no record", async () => {
    const id = await agentOf({ outputSchema: SCHEMA });
    openai.script.push('{"total":"?"}', '{"total":7}');
    const body = { input: INPUT, userMessage: "Now." };
    const answer = await system.call("POST", `/agents/${id}/test`, { body });
    expect(answer.status).toBe(200);
    expect(testSchema.parse(answer.data)).toMatchObject({
      output: { total: 7 },
      rawOutput: '{"total":7}',
      schemaValid: true,
      repairAttempts: 1,
      finishReason: "stop",
      error: null,
    });
    expect(await system.call("GET", `/agents/${id}/executions`)).toMatchObject({ data: [] });
  });

  it("answers 502 where the provider gave no answer, and leaves no record", async () => {
    const id = await agentOf();
    openai.script.push({ trouble: "rate-limited" });
    const body = { input: INPUT };
    expect(await system.call("POST", `/agents/${id}/test`, { body })).toMatchObject({
      status: 502,
      error: { code: "UPSTREAM_ERROR", details: { code: "AGENT_RATE_LIMITED" } },
    });
    expect(await system.call("GET", `/agents/${id}/executions`)).toMatchObject({ data: [] });
  });

  it("answers 400 for core agents", async () => {
    const body = { input: INPUT };
    const answer = await system.call("POST", "/agents/agent_extraction/test", { body });
    expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
  });
});

describe("GET /agents/{id}/executions", () => {
  it("goes by pages; a cursor is good for its list only", async () => {
    const [id, other] = [await agentOf(), await agentOf()];
    openai.reply = () => "Hi";
    const made: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      made.unshift(await executeTestAgent(system, system.acme.key, id));
    }
    const path = `/agents/${id}/executions?limit=2`;
    const first = await system.call("GET", path);
    const cursor = first.meta?.cursor ?? "";
    const second = await system.call("GET", `${path}&cursor=${cursor}`);
    const pages = [first, second].map(({ data }) => z.array(listedSchema).parse(data));
    expect(pages.flat().map((each) => each.id)).toEqual(made);
    expect(second.meta).toEqual({ cursor: null, hasMore: false });
    for (const wrong of [
      `/agents/${other}/executions?cursor=${cursor}`,
      `/agents/${id}/executions?cursor=x`,
      `/agents/${id}/executions?limit=0`,
      `/agents/${id}/executions?limit=101`,
    ]) {
      expect(await system.call("GET", wrong)).toMatchObject({
        status: 400,
        error: { code: "BAD_REQUEST" },
      });
    }
  });
});
