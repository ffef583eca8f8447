import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { AgentInputError } from "../src/agents/agent-input-error.ts";
import type { Agent } from "../src/domain/agent.ts";
import type { AgentAnswer, AgentQuestion } from "../src/agents/agent-answer.ts";
import { ModelCallError } from "../src/agents/models/model-call-error.ts";
import type { Models } from "../src/agents/models/model.ts";
import { createPrepareQuestion } from "../src/agents/prepare-question.ts";
import { composePrompt } from "../src/agents/prompt/compose-prompt.ts";
import { CHAT, ROUTES, startRoute } from "./support/models-harness.ts";
import type { ModelsHarness } from "./support/models-harness.ts";

const SCHEMA = {
  type: "object",
  properties: { total: { type: "number" }, currency: { enum: ["EUR", "USD"] } },
  required: ["total", "currency"],
  additionalProperties: false,
};

const FITTING = '{"total": 10, "currency": "EUR"}';

const AGENT: Agent = {
  id: "0199aaaa-0000-7000-8000-000000000001",
  isCore: false,
  name: "Totals",
  description: null,
  type: "extraction",
  status: "active",
  provider: "openai",
  systemPrompt: "Find the total.",
  outputSchemaJson: JSON.stringify(SCHEMA),
  temperature: 0.2,
  maxTokens: 2_000,
  version: 1,
  createdAt: new Date(0),
  updatedAt: new Date(0),
};

const TEXT_AGENT: Agent = { ...AGENT, outputSchemaJson: null };

let harness: ModelsHarness;

beforeEach(async () => {
  harness = await startRoute(CHAT);
});

afterEach(async () => {
  await harness[Symbol.asyncDispose]();
});

function toQuestion(more: Partial<AgentQuestion>): AgentQuestion {
  return {
    companyId: "company",
    agent: AGENT,
    input: { document: "10 EUR" },
    userMessage: null,
    overrides: {},
    signal: new AbortController().signal,
    timeoutMs: 30_000,
    ...more,
  };
}

async function askBy(models: Models, more: Partial<AgentQuestion>): Promise<AgentAnswer> {
  const prepare = createPrepareQuestion({ models, composePrompt, exchangeTimeoutMs: 30_000 });
  const prepared = await prepare(toQuestion(more));
  return prepared.ask();
}

function ask(more: Partial<AgentQuestion> = {}): Promise<AgentAnswer> {
  return askBy(harness.models, more);
}

describe("an answer", () => {
  it("that fits is the output, by every route", async () => {
    for (const route of ROUTES) {
      await using own = await startRoute(route);
      own.double.script.push({ text: FITTING, usage: { inputTokens: 40, outputTokens: 9 } });
      const { models } = own;
      const answer = await askBy(models, { agent: { ...AGENT, provider: route.provider } });
      expect(answer).toEqual({
        outputJson: '{"total":10,"currency":"EUR"}',
        rawOutput: FITTING,
        usage: { inputTokens: 40, outputTokens: 9, totalTokens: 49 },
        durationMs: expect.any(Number),
        finishReason: "stop",
        schemaValid: true,
        repairAttempts: 0,
        model: models.modelOf(route.provider),
        warnings: [],
        error: null,
      });
      const [asked] = own.double.asked;
      expect(asked?.body["temperature"]).toBe(0.2);
      expect(asked?.system).toContain("Find the total.");
      expect(asked?.messages[0]?.text).toContain("10 EUR");
    }
  });

  it.each([
    ["```json\n", "\n```"],
    ["```\n", "\n```\n"],
    ["\n  ", "  \n"],
  ])("between %j and %j counts, and stays in the raw output", async (before, after) => {
    harness.double.script.push(`${before}${FITTING}${after}`);
    const answer = await ask();
    expect(answer).toMatchObject({
      outputJson: '{"total":10,"currency":"EUR"}',
      repairAttempts: 0,
    });
    expect(answer.rawOutput).toBe(`${before}${FITTING}${after}`);
  });

  it("without a schema is a text, whatever it looks like", async () => {
    harness.double.script.push(FITTING);
    const answer = await ask({ agent: TEXT_AGENT });
    expect(answer).toMatchObject({ outputJson: JSON.stringify(FITTING), schemaValid: true });
    expect(harness.double.asked[0]?.schema).toBeNull();
  });

  it("can be stored, whatever characters it has", async () => {
    harness.double.script.push("a\0b\ud800c");
    const answer = await ask({ agent: TEXT_AGENT });
    expect(answer).toMatchObject({ outputJson: '"a\ufffdb\ufffdc"', rawOutput: "a\ufffdb\ufffdc" });
  });

  it.each(['"EUR"', "null", "7"])(
    "may be the single value %s where the schema is of one",
    async (text) => {
      harness.double.script.push(text);
      const outputSchemaJson = JSON.stringify({ type: ["string", "null", "number"] });
      const answer = await ask({ agent: { ...AGENT, outputSchemaJson } });
      expect(answer).toMatchObject({ outputJson: text, repairAttempts: 0 });
    },
  );
});

describe("an answer that does not fit", () => {
  it("is asked for again, and the violations are named", async () => {
    harness.double.script.push(
      { text: '{"total": "ten"}', usage: { inputTokens: 10, outputTokens: 1 } },
      { text: "Sorry! Here it is.", usage: { inputTokens: 20, outputTokens: 2 } },
      { text: FITTING, usage: { inputTokens: 30, outputTokens: 3 } },
    );
    const answer = await ask();
    expect(answer).toMatchObject({
      outputJson: '{"total":10,"currency":"EUR"}',
      rawOutput: FITTING,
      usage: { inputTokens: 60, outputTokens: 6, totalTokens: 66 },
      repairAttempts: 2,
      schemaValid: true,
      error: null,
    });
    const [first, second, third] = harness.double.asked.map(({ messages }) => messages);
    expect(second?.slice(0, 2)).toEqual([
      ...(first ?? []),
      { role: "assistant", text: '{"total": "ten"}' },
    ]);
    expect(second?.[2]?.text).toContain("- total must be a number");
    expect(second?.[2]?.text).toMatch(/currency/);
    expect(third).toHaveLength(3);
    expect(third?.[2]?.text).toContain("the answer is not valid JSON");
  });

  it("three times is no output, with all that it cost", async () => {
    const wrong = { text: '{"total": 10}', usage: { inputTokens: 10, outputTokens: 5 } };
    harness.double.script.push(wrong, wrong, wrong, FITTING);
    const answer = await ask();
    expect(answer).toMatchObject({
      outputJson: null,
      rawOutput: '{"total": 10}',
      schemaValid: false,
      repairAttempts: 2,
      usage: { totalTokens: 45 },
      error: { code: "AGENT_OUTPUT_INVALID", details: { violations: [expect.anything()] } },
    });
    expect(harness.double.asked).toHaveLength(3);
  });

  it.each([
    ["half a document", '{"total": 1', "is not valid JSON"],
    ["nothing", "  ", "is empty"],
    ["JSON amid other text", `Here: ${FITTING}`, "is not valid JSON"],
    [
      "two fences",
      `\`\`\`json\n${FITTING}\n\`\`\`\n\`\`\`json\n${FITTING}\n\`\`\``,
      "is not valid JSON",
    ],
    ["65 levels", `${"[".repeat(65)}${"]".repeat(65)}`, "must not nest more than 64"],
    ["NUL", '{"total": 1, "currency": "\\u0000"}', "NUL"],
    ["half a character", '{"total": 1, "currency": "\\ud800"}', "surrogates"],
    ["a number without end", '{"total": 1e999, "currency": "EUR"}', "total is too large a number"],
  ])("because it is %s can be repaired", async (_what, text, words) => {
    harness.double.script.push(text, FITTING);
    expect(await ask()).toMatchObject({ repairAttempts: 1, schemaValid: true });
    const repair = harness.double.asked[1]?.messages.at(-1);
    expect(repair).toMatchObject({ role: "user", text: expect.stringContaining(words) });
  });

  it("costs a bounded message, however much is wrong with it", async () => {
    const outputSchemaJson = JSON.stringify({
      type: "object",
      additionalProperties: { type: "null" },
    });
    const names = Array.from({ length: 5_000 }, (_, index) => [`${"n".repeat(150)}${index}`, 1]);
    harness.double.script.push(JSON.stringify(Object.fromEntries(names)), "{}");
    expect(await ask({ agent: { ...AGENT, outputSchemaJson } })).toMatchObject({
      repairAttempts: 1,
    });
    const repair = harness.double.asked[1]?.messages.at(-1)?.text ?? "";
    expect(repair).toMatch(/and \d+ more/);
    expect(repair.length).toBeLessThan(12_000);
  });

  it("and has no schema is empty", async () => {
    harness.double.script.push("", "", "");
    const answer = await ask({ agent: TEXT_AGENT });
    expect(answer).toMatchObject({ outputJson: null, error: { code: "AGENT_OUTPUT_INVALID" } });
    expect(harness.double.asked[1]?.messages[1]).toEqual({ role: "assistant", text: "(no text)" });
  });

  it("is not asked for again where asking would not help", async () => {
    for (const [ends, code] of [
      ["length", "AGENT_OUTPUT_CUT"],
      ["refused", "AGENT_OUTPUT_REFUSED"],
      ["filtered", "AGENT_OUTPUT_REFUSED"],
    ] as const) {
      for (const agent of [AGENT, TEXT_AGENT]) {
        harness.double.script.push({ text: '{"total": 1', ends });
        const answer = await ask({ agent });
        expect(answer).toMatchObject({
          outputJson: null,
          rawOutput: '{"total": 1',
          schemaValid: false,
          repairAttempts: 0,
          error: { code },
        });
      }
    }
    expect(harness.double.asked).toHaveLength(6);
  });

  it("because it is too large is cut between characters", async () => {
    harness.double.script.push(`x${"€".repeat(400_000)}`);
    const answer = await ask({ agent: TEXT_AGENT });
    expect(answer).toMatchObject({ outputJson: null, error: { code: "AGENT_OUTPUT_TOO_LARGE" } });
    expect(Buffer.byteLength(answer.rawOutput)).toBe(1 + 3 * 349_525);
    expect(answer.rawOutput).toMatch(/^x€+$/);
  });
});

describe("a provider that fails at a repair", () => {
  it("is an error with what was used before", async () => {
    harness.double.script.push({ text: "{}", usage: { inputTokens: 7, outputTokens: 2 } });
    harness.double.script.push({ trouble: "rate-limited", headers: { "retry-after": "3" } });
    const error = await ask().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ModelCallError);
    expect(error).toMatchObject({
      failure: {
        code: "AGENT_RATE_LIMITED",
        status: 429,
        retryable: true,
        retryAfterMs: 3_000,
        usage: { inputTokens: 7, outputTokens: 2, totalTokens: 9 },
      },
    });
  });

  it("has no more time than the first attempt has left", async () => {
    harness.double.script.push("{}", { trouble: "hangs" });
    await expect(ask({ timeoutMs: 500 })).rejects.toMatchObject({
      failure: { code: "AGENT_TIMEOUT", usage: { totalTokens: expect.any(Number) } },
    });
    expect(harness.double.asked).toHaveLength(2);
  });

  it("is left alone when the caller gives up meanwhile", async () => {
    const reason = new Error("The run was cancelled.");
    const stop = new AbortController();
    harness.double.script.push("{}");
    harness.double.reply = () => {
      stop.abort(reason);
      return { trouble: "hangs" };
    };
    await expect(ask({ signal: stop.signal })).rejects.toBe(reason);
    expect(harness.double.asked).toHaveLength(2);
  });
});

describe("a question", () => {
  it("is asked with what the call sets in place of the agent's", async () => {
    harness.double.script.push(FITTING);
    const model = harness.models.modelOf("openai");
    const answer = await ask({ overrides: { temperature: 2, maxTokens: 128_000, model } });
    expect(answer.model).toBe(model);
    expect(harness.double.asked[0]?.body).toMatchObject({
      temperature: 2,
      max_completion_tokens: 128_000,
      model,
    });
  });

  it.each([
    [{ temperature: 2.1 }, "overrides.temperature"],
    [{ temperature: Number.NaN }, "overrides.temperature"],
    [{ maxTokens: 0 }, "overrides.maxTokens"],
    [{ maxTokens: 1.5 }, "overrides.maxTokens"],
    [{ maxTokens: 128_001 }, "overrides.maxTokens"],
    [{ model: "claude-sonnet-5-5" }, "overrides.model"],
  ])("with %j is refused before anything is asked", async (overrides, path) => {
    const error = await ask({ overrides }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AgentInputError);
    expect(error).toMatchObject({ violations: [{ path: path.split(".") }] });
    expect(harness.double.requests).toHaveLength(0);
  });

  it("that is prepared says what it may cost, and asks only when told to", async () => {
    const { models } = harness;
    const prepare = createPrepareQuestion({ models, composePrompt, exchangeTimeoutMs: 30_000 });
    const prepared = await prepare(toQuestion({ input: { document: "€".repeat(3_000) } }));
    expect(prepared).toMatchObject({ maxTokens: 2_000, model: models.modelOf("openai") });
    expect(prepared.inputTokensEstimate).toBeGreaterThan(3_000);
    expect(harness.double.requests).toHaveLength(0);
    harness.double.script.push(FITTING);
    expect(await prepared.ask()).toMatchObject({ schemaValid: true });
  });

  it("to a provider without a key names the setting before anything is asked", async () => {
    const { models } = harness;
    const prepare = createPrepareQuestion({ models, composePrompt, exchangeTimeoutMs: 30_000 });
    const agent = { ...AGENT, provider: "anthropic" } as const;
    await expect(prepare(toQuestion({ agent }))).rejects.toMatchObject({
      message: expect.stringContaining("ANTHROPIC_API_KEY"),
      failure: { code: "NOT_CONFIGURED" },
    });
  });
});
