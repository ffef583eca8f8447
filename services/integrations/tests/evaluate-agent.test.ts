import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { Identity } from "@workflow/rpc";
import type { AskedModel } from "@workflow/testkit";
import {
  aCase,
  evaluation,
  makeAgent,
  newAuthor,
  onlyResult,
  startEvaluationHarness,
} from "./support/evaluation-harness.ts";
import type { AgentsClient, EvaluationHarness } from "./support/evaluation-harness.ts";
import { errorOf } from "./support/harness.ts";

const AMOUNT_SCHEMA = JSON.stringify({
  type: "object",
  properties: { amount: { type: "number" } },
  required: ["amount"],
  additionalProperties: false,
});

let harness: EvaluationHarness;
let client: AgentsClient;
let author: Identity;

beforeAll(async () => {
  harness = await startEvaluationHarness();
  client = await harness.start();
});
beforeEach(() => {
  author = newAuthor();
  harness.openai.asked.length = 0;
  harness.openai.script.length = 0;
  harness.openai.reply = () => "yes";
});
afterAll(() => harness.close());

/** Whether a question is about a case: the double's answer depends on it. */
function isAbout({ messages }: Pick<AskedModel, "messages">, text: string): boolean {
  return messages.some((message) => message.text.includes(text));
}

describe("an evaluation", () => {
  it("says of each case, in their order, whether its output is as expected", async () => {
    const agentId = await makeAgent(client, author, { outputSchemaJson: AMOUNT_SCHEMA });
    harness.openai.reply = () => ({
      text: '{"amount":12.5}',
      usage: { inputTokens: 100, outputTokens: 10 },
    });
    const isNumber = { type: "object", properties: { amount: { type: "number" } } };
    const isText = { type: "object", properties: { amount: { type: "string" } } };
    const answer = await client.evaluateAgent(
      evaluation(agentId, [
        aCase({ total: 12.5 }, { equals: { amount: 12.5 } }, { name: "same" }),
        aCase({ total: 12.5 }, { equals: { amount: 13 } }),
        aCase({ total: 12.5 }, { schema: isNumber }),
        aCase({ total: 12.5 }, { schema: isText }),
        aCase({ total: 12.5 }, { expression: "output.amount = input.total" }),
        aCase({ total: 13 }, { expression: "output.amount = input.total" }),
        aCase({ total: 12.5 }, { expression: "output.amount" }),
        aCase({ total: 12.5 }, { expression: "$error('no such luck')" }),
        aCase({ total: 12.5 }, { expression: "($f := function() { $f() }; $f())" }),
        aCase({ total: 12.5 }, { expression: "output.nothing" }),
      ]),
      { identity: author },
    );
    expect(answer.results.map(({ passed, reason }) => reason ?? passed)).toEqual([
      true,
      "output.amount: expected 13, got 12.5.",
      true,
      "output.amount must be a string.",
      true,
      "The expression gives false, not true.",
      "The expression gives 12.5, not true.",
      expect.stringMatching(/^The expression gives no result: .*no such luck/),
      "The expression gives no result: The expression took longer than 2000 ms.",
      "The expression gives null, not true.",
    ]);
    expect(answer.results[0]).toEqual({
      name: "same",
      passed: true,
      reason: undefined,
      outputJson: '{"amount":12.5}',
      schemaValid: true,
      usage: { inputTokens: 100, outputTokens: 10, totalTokens: 110 },
      durationMs: expect.any(Number),
      error: undefined,
    });
    expect(answer).toMatchObject({
      agentVersion: 1,
      usage: { inputTokens: 1_000, outputTokens: 100, totalTokens: 1_100 },
      durationMs: expect.any(Number),
    });
  });

  it("keeps the order when answers come in another one, and asks five cases at a time", async () => {
    const agentId = await makeAgent(client, author);
    let underWay = 0;
    let most = 0;
    const firstFive = Promise.withResolvers<void>();
    harness.openai.reply = async ({ messages }) => {
      underWay += 1;
      most = Math.max(most, underWay);
      if (underWay === 5) firstFive.resolve();
      await firstFive.promise;
      const number = /case-(\d+)/.exec(messages[0]?.text ?? "")?.[1] ?? "";
      await pause(Number(number) % 2 === 0 ? 30 : 1);
      underWay -= 1;
      return `answer ${number}`;
    };
    const numbers = Array.from({ length: 50 }, (_, number) => number);
    const cases = numbers.map((number) =>
      aCase({ text: `case-${number}` }, { equals: `answer ${number}` }, { name: String(number) }),
    );
    const { results } = await client.evaluateAgent(evaluation(agentId, cases), {
      identity: author,
    });
    expect(results.map(({ name }) => name)).toEqual(numbers.map(String));
    expect(results.every(({ passed }) => passed)).toBe(true);
    expect(most).toBe(5);
  });

  it("compares values as JSON: neither the order of keys nor the way a number is written counts", async () => {
    const agentId = await makeAgent(client, author, { outputSchemaJson: '{"type":"object"}' });
    harness.openai.reply = () => '{"b":[1.0,{"c":null}],"a":1e1}';
    const cases = [
      aCase({}, { equals: { a: 10, b: [1, { c: null }] } }),
      aCase({}, { equals: { a: 10, b: [{ c: null }, 1] } }),
      aCase({}, { equals: { a: 10, b: [1, { c: null }], d: null } }),
      aCase({}, { equals: null }),
    ];
    const { results } = await client.evaluateAgent(evaluation(agentId, cases), {
      identity: author,
    });
    expect(results.map(({ passed, reason }) => reason ?? passed)).toEqual([
      true,
      'output.b.0: expected {"c":null}, got 1.',
      "output.d: expected null, got nothing.",
      'output: expected null, got {"b":[1,{"c":null}],"a":10}.',
    ]);
  });

  it("fails a case whose answer does not fit the agent's own schema", async () => {
    const agentId = await makeAgent(client, author, { outputSchemaJson: AMOUNT_SCHEMA });
    harness.openai.reply = () => '{"sum":1}';
    const result = onlyResult(
      await client.evaluateAgent(evaluation(agentId, [aCase({}, { schema: {} })]), {
        identity: author,
      }),
    );
    expect(result).toMatchObject({
      passed: false,
      outputJson: undefined,
      schemaValid: false,
      error: { code: "AGENT_OUTPUT_INVALID" },
    });
    expect(result.reason).toBe(result.error?.message);
    // The first question and two repairs.
    expect(harness.openai.asked).toHaveLength(3);
    expect(result.usage?.totalTokens).toBeGreaterThan(0);
  });

  it("asks with the overrides, and with the prompt that is to be judged in place of the agent's", async () => {
    const agentId = await makeAgent(client, author);
    const more = {
      systemPrompt: "You are the candidate.",
      overrides: { temperature: 0.1, maxTokens: 77, model: "gpt-test" },
    };
    const cases = [aCase({ text: "Hi" }, { equals: "yes" }, { userMessage: "Be quick." })];
    const answer = await client.evaluateAgent(evaluation(agentId, cases, more), {
      identity: author,
    });
    expect(onlyResult(answer).passed).toBe(true);
    const [asked] = harness.openai.asked;
    expect(asked?.system).toContain("You are the candidate.");
    expect(asked?.system).not.toContain("Answer in one word.");
    expect(asked?.messages[0]?.text).toContain("Be quick.");
    expect(asked?.body).toMatchObject({ temperature: 0.1, max_tokens: 77 });
    const agent = await client.getAgent({ agentId }, { identity: author });
    expect(agent).toMatchObject({ version: 1, systemPrompt: "Answer in one word." });
  });

  it("leaves no execution", async () => {
    const agentId = await makeAgent(client, author);
    await client.evaluateAgent(evaluation(agentId, [aCase({}, { equals: "yes" })]), {
      identity: author,
    });
    const reader = { ...author, scopes: ["runs:read"] };
    const { executions } = await client.listAgentExecutions(
      { agentId, page: undefined },
      { identity: reader },
    );
    expect(executions).toEqual([]);
  });

  it("takes core agents, but no other prompt for them", async () => {
    const cases = [aCase({ data: { amount: 5 }, options: ["approve", "reject"] }, { schema: {} })];
    const { results } = await client.evaluateAgent(evaluation("agent_decision", cases), {
      identity: author,
    });
    expect(results).toHaveLength(1);
    expect(harness.openai.asked).not.toHaveLength(0);
    const refused = await errorOf(
      client.evaluateAgent(evaluation("agent_decision", cases, { systemPrompt: "Mine." }), {
        identity: author,
      }),
    );
    expect(refused).toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["systemPrompt"] }],
    });
  });
});

describe("what goes wrong with one case", () => {
  it("is that case's error", async () => {
    const agentId = await makeAgent(client, author);
    harness.openai.reply = (asked) => {
      if (isAbout(asked, "limited")) return { trouble: "rate-limited" };
      if (isAbout(asked, "broken")) return { trouble: "server-error" };
      if (isAbout(asked, "cut")) return { text: "ye", ends: "length" };
      return "yes";
    };
    const texts = ["fine", "limited", "broken", "cut", "fine"];
    const cases = texts.map((text) => aCase({ text }, { equals: "yes" }));
    const { results } = await client.evaluateAgent(evaluation(agentId, cases), {
      identity: author,
    });
    expect(results.map(({ passed, error }) => error?.code ?? passed)).toEqual([
      true,
      "AGENT_RATE_LIMITED",
      "AGENT_UNAVAILABLE",
      "AGENT_OUTPUT_CUT",
      true,
    ]);
    expect(JSON.parse(results[1]?.error?.detailsJson ?? "")).toMatchObject({
      provider: "openai",
      status: 429,
    });
  });

  it("does not grow the answer without limit: outputs beyond 16 MiB together are left out", async () => {
    const agentId = await makeAgent(client, author);
    harness.openai.reply = () => ({ text: "x".repeat(1_000_000), usage: null });
    const cases = Array.from({ length: 20 }, () => aCase({}, { schema: { type: "string" } }));
    const { results } = await client.evaluateAgent(evaluation(agentId, cases), {
      identity: author,
    });
    expect(results.filter(({ passed }) => passed)).toHaveLength(16);
    const codes = results.filter(({ passed }) => !passed).map(({ error }) => error?.code);
    expect(codes).toEqual(Array.from({ length: 4 }, () => "AGENT_OUTPUT_TOO_LARGE"));
  });
});
