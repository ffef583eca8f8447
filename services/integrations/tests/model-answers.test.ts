import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { ANTHROPIC, CHAT, RESPONSES, ROUTES, startRoute } from "./support/models-harness.ts";

const INVOICE = {
  type: "object",
  properties: { total: { type: "number" } },
  required: ["total"],
  additionalProperties: false,
} as const;

it.each(ROUTES)("$name is told everything and its answer comes back", async (route) => {
  await using harness = await startRoute(route);
  harness.double.script.push({ text: "Ten euros.", usage: { inputTokens: 12, outputTokens: 5 } });
  const answer = await harness.ask({
    messages: [
      { role: "user", text: "How much?" },
      { role: "assistant", text: "Much." },
      { role: "user", text: "Say a number." },
    ],
  });
  expect(answer).toEqual({
    text: "Ten euros.",
    finishReason: "stop",
    usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 },
    warnings: [],
  });
  const [asked] = harness.double.asked;
  expect(asked).toMatchObject({
    system: "You are brief.",
    messages: [
      { role: "user", text: "How much?" },
      { role: "assistant", text: "Much." },
      { role: "user", text: "Say a number." },
    ],
    schema: null,
    body: { temperature: 0.5 },
  });
  const { max_tokens, max_completion_tokens, max_output_tokens } = asked?.body ?? {};
  expect([max_tokens, max_completion_tokens, max_output_tokens]).toContain(1_000);
  expect(asked?.headers["user-agent"]).toBe("workflow-service");
});

it.each(ROUTES)("$name gets a schema that fits in its structured mode", async (route) => {
  await using harness = await startRoute(route);
  harness.double.script.push('{"total":10}');
  const answer = await harness.ask({ outputSchema: INVOICE });
  expect(answer).toMatchObject({ text: '{"total":10}', warnings: [] });
  expect(harness.double.asked[0]?.schema).toEqual(INVOICE);
});

it.each([
  ["refused", "content-filter"],
  ["filtered", "content-filter"],
  ["length", "length"],
] as const)("an answer that ends as %s says so by every route", async (ends, finishReason) => {
  for (const route of ROUTES) {
    await using harness = await startRoute(route);
    harness.double.script.push({ text: "I can't", ends });
    expect(await harness.ask()).toMatchObject({ text: "I can't", finishReason });
  }
});

it.each([RESPONSES, CHAT])("tokens that $name does not tell of are estimated", async (route) => {
  await using harness = await startRoute(route);
  harness.double.script.push({ text: "x".repeat(300), usage: null });
  const answer = await harness.ask();
  expect(answer.usage.outputTokens).toBe(100);
  expect(answer.usage.inputTokens).toBeGreaterThan(0);
  expect(answer.warnings).toEqual([expect.stringContaining("estimated")]);
});

it("nothing of a question is kept at OpenAI", async () => {
  await using harness = await startRoute(RESPONSES);
  await harness.ask();
  expect(harness.double.asked[0]?.body["store"]).toBe(false);
});

it.each([RESPONSES, CHAT])(
  "$name is asked strictly only where the schema allows it",
  async (route) => {
    await using harness = await startRoute(route);
    const open = { type: "object", properties: { total: { type: "number" } } };
    await harness.ask({ outputSchema: open });
    await harness.ask({ outputSchema: { type: "array", items: { type: "number" } } });
    const [loose, none] = harness.double.asked;
    expect(loose?.schema).toEqual(open);
    expect(JSON.stringify(loose?.body)).toContain('"strict":false');
    expect(none?.schema).toBeNull();
    expect(harness.double.requests).toHaveLength(2);
  },
);

it("Anthropic's structured mode does not get maps, which it would close", async () => {
  await using harness = await startRoute(ANTHROPIC);
  const map = { type: "object", additionalProperties: { type: "number" } };
  expect(await harness.ask({ outputSchema: map })).toMatchObject({ warnings: [] });
  expect(harness.double.asked[0]).toMatchObject({ schema: null });
  expect(harness.double.asked[0]?.body["tools"]).toBeUndefined();
});

it.each([
  { ...RESPONSES, message: "Invalid schema for response_format 'answer': too much of it." },
  { ...CHAT, message: "This response_format type is unavailable now" },
  { ...ANTHROPIC, message: "output_config.format.schema: Schema is too complex." },
])("a server that $name refuses a schema at is asked by the prompt alone", async (route) => {
  await using harness = await startRoute(route);
  harness.double.script.push({ trouble: "invalid-request", message: route.message });
  const answer = await harness.ask({ outputSchema: INVOICE });
  expect(answer.text).toBe("The answer.");
  expect(answer.warnings).toEqual([expect.stringContaining("the prompt alone")]);
  expect(harness.double.asked.map(({ schema }) => schema)).toEqual([INVOICE, null]);
});

it.each([
  ["gpt-4.1", 1.5, undefined],
  ["gpt-6.1-terra", 1.5, "none"],
] as const)("%s of OpenAI takes its temperature", async (model, temperature, effort) => {
  for (const route of [RESPONSES, CHAT]) {
    await using harness = await startRoute(route, { model });
    expect(await harness.ask({ temperature })).toMatchObject({ warnings: [] });
    const { body } = harness.double.asked[0] ?? {};
    expect(body?.["temperature"]).toBe(temperature);
    const { reasoning, reasoning_effort = Reflect.get(Object(reasoning), "effort") } = body ?? {};
    expect(reasoning_effort).toBe(effort);
  }
});

it.each([
  { ...RESPONSES, model: "gpt-6.1-sol" },
  { ...CHAT, model: "gpt-6.1-sol" },
  { ...ANTHROPIC, model: "claude-sonnet-5-5" },
])("a model of $name that takes no temperature is not sent one", async ({ model, ...route }) => {
  await using harness = await startRoute(route, { model });
  const answer = await harness.ask();
  expect(answer.warnings).toEqual([expect.stringContaining("temperature")]);
  expect(harness.double.asked[0]?.body["temperature"]).toBeUndefined();
});

it("Anthropic gets no more than the temperature that it takes", async () => {
  await using harness = await startRoute(ANTHROPIC);
  const answer = await harness.ask({ temperature: 1.8 });
  expect(harness.double.asked[0]?.body["temperature"]).toBe(1);
  expect(answer.warnings).toEqual([expect.stringContaining("1.8")]);
});

it("a model that thinks spends none of the answer's tokens on it where that can be had", async () => {
  await using harness = await startRoute(ANTHROPIC, { model: "claude-haiku-5-5" });
  await harness.ask();
  expect(harness.double.asked[0]?.body["thinking"]).toEqual({ type: "disabled" });
});

it("a key that a server repeats in an answer is not in it", async () => {
  for (const route of ROUTES) {
    await using harness = await startRoute(route);
    harness.double.script.push(`You sent ${harness.double.key}, did you not?`);
    expect((await harness.ask()).text).toBe("You sent ••••, did you not?");
  }
});

describe("the environment of the process", () => {
  const FOREIGN = "of-somebody-else";
  const NAMES = [
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_ORGANIZATION",
    "OPENAI_ORG_ID",
    "OPENAI_PROJECT",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "AI_GATEWAY_API_KEY",
  ];
  const before = NAMES.map((name) => [name, process.env[name]] as const);

  beforeEach(() => {
    for (const name of NAMES) process.env[name] = FOREIGN;
  });

  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  it.each(ROUTES)("decides nothing about what $name is sent", async (route) => {
    await using harness = await startRoute(route);
    await harness.ask();
    const [sent] = harness.double.requests;
    expect(JSON.stringify([sent?.path, sent?.headers, sent?.body])).not.toContain(FOREIGN);
  });
});

it("Anthropic is found with the version in its address and without", async () => {
  await using harness = await startRoute(ANTHROPIC);
  const { baseUrl, key } = harness.double;
  for (const address of [baseUrl, `${baseUrl}/`, `${baseUrl}/v1`, `${baseUrl}/v1/`]) {
    await using same = await startRoute(ANTHROPIC, { key, baseUrl: address });
    expect(await same.ask()).toMatchObject({ text: "The answer." });
  }
  expect(harness.double.asked.map(({ path }) => path)).toEqual(Array(4).fill("/v1/messages"));
});
