import { expect, it } from "@jest/globals";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { ModelTrouble } from "@workflow/testkit";
import { pino } from "pino";
import { createModels } from "../src/agents/models/create-models.ts";
import { ModelCallError } from "../src/agents/models/model-call-error.ts";
import { ANTHROPIC, CHAT, RESPONSES, ROUTES, startRoute } from "./support/models-harness.ts";

const logger = pino({ level: "silent" });

const UNREACHED = { status: null, code: "AGENT_UNAVAILABLE" } as const;

it.each<[ModelTrouble, object]>([
  ["server-error", { status: 500, code: "AGENT_UNAVAILABLE", retryable: true }],
  ["rate-limited", { status: 429, code: "AGENT_RATE_LIMITED", retryable: true }],
  ["invalid-request", { status: 400, code: "AGENT_REFUSED", retryable: false }],
  ["redirects", { status: 307, code: "AGENT_UNAVAILABLE", retryable: false }],
  ["resets", { ...UNREACHED, retryable: true }],
  ["huge", { ...UNREACHED, retryable: false }],
  ["html", { status: 200, code: "AGENT_UNAVAILABLE", retryable: true }],
  ["broken-json", { status: 200, code: "AGENT_UNAVAILABLE", retryable: true }],
])(
  "a provider in the trouble '%s' is an error that says so, by every route",
  async (trouble, failure) => {
    for (const route of ROUTES) {
      await using harness = await startRoute(route);
      harness.double.script.push({ trouble });
      const error = await harness.fail();
      expect(error.failure).toMatchObject({ ...failure, provider: route.provider });
      expect(error.message).toContain(route.provider);
      expect(harness.double.requests).toHaveLength(1);
    }
  },
);

it("an overloaded provider may be asked again", async () => {
  await using anthropic = await startRoute(ANTHROPIC);
  anthropic.double.script.push({ trouble: "overloaded" });
  const { failure, message } = await anthropic.fail();
  expect(failure).toMatchObject({ status: 529, code: "AGENT_UNAVAILABLE", retryable: true });
  expect(message).toBe("The AI provider anthropic answered 529: Overloaded");
});

it("a provider's words about the operator's account are not passed on", async () => {
  for (const route of ROUTES) {
    await using harness = await startRoute(route);
    const message = "Rate limit reached in organization org-4711 on tokens per min.";
    harness.double.script.push({ trouble: "rate-limited", message });
    expect((await harness.fail()).message).toBe(
      `The AI provider ${route.provider} answered 429: it takes no more questions for now.`,
    );
  }
});

it("an account that is spent is not asked again and again", async () => {
  await using openai = await startRoute(RESPONSES);
  openai.double.script.push({ trouble: "quota-exceeded" });
  const { failure } = await openai.fail();
  expect(failure).toMatchObject({ status: 429, code: "AGENT_RATE_LIMITED", retryable: false });
});

it.each(ROUTES)(
  "a key that $name does not take is the operator's matter, and not shown",
  async (route) => {
    const key = "sk-proj-of-another-installation-1234567890";
    await using harness = await startRoute(route, { key });
    const error = await harness.fail();
    expect(error.failure).toMatchObject({ status: 401, code: "AGENT_REFUSED", retryable: false });
    expect(error.message).toMatch(/_API_KEY\.$/);
    expect(error.message).not.toContain("sk-");
  },
);

it("a key that a provider repeats in its words is not in the error or its causes", async () => {
  for (const route of ROUTES) {
    await using harness = await startRoute(route);
    const { key } = harness.double;
    const message = `${"x".repeat(180)} you sent ${key}`;
    harness.double.script.push({ trouble: "invalid-request", message });
    const error = await harness.fail();
    expect(error.message).toContain("••••");
    expect(textOf(error)).not.toContain(key.slice(0, 20));
  }
});

it.each([
  [{ "retry-after": "7" }, 7_000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "60", "retry-after-ms": "1500" }, 1_500],
  [{ "retry-after": "99999999" }, 24 * 60 * 60 * 1000],
  [{ "retry-after": new Date(0).toUTCString() }, 0],
  [{ "retry-after": "soon" }, undefined],
])("a pause of %j is kept", async (headers, pauseMs) => {
  for (const route of ROUTES) {
    await using harness = await startRoute(route);
    harness.double.script.push({ trouble: "rate-limited", headers });
    expect((await harness.fail()).failure.retryAfterMs).toBe(pauseMs);
  }
});

it("a pause until a date is as long as until then", async () => {
  await using harness = await startRoute(ANTHROPIC);
  const headers = { "retry-after": new Date(Date.now() + 3_600_000).toUTCString() };
  harness.double.script.push({ trouble: "overloaded", headers });
  const { retryAfterMs } = (await harness.fail()).failure;
  expect(retryAfterMs).toBeGreaterThan(3_000_000);
  expect(retryAfterMs).toBeLessThanOrEqual(3_600_000);
});

it("a model that the provider does not know is not looked for by another route", async () => {
  for (const api of ["auto", "chat", "responses"] as const) {
    await using harness = await startRoute({ ...CHAT, api }, { model: "gpt-none" });
    const { failure, message } = await harness.fail();
    expect(failure).toMatchObject({ status: 404, code: "AGENT_REFUSED", retryable: false });
    expect(message).toContain("gpt-none");
    expect(harness.double.requests).toHaveLength(1);
  }
});

it.each(ROUTES)("$name is not waited for beyond the time", async (route) => {
  await using harness = await startRoute(route);
  harness.double.script.push({ trouble: "hangs" });
  const { failure } = await harness.fail({}, { timeoutMs: 2_000 });
  expect(failure).toMatchObject({ code: "AGENT_TIMEOUT", status: null, retryable: true });
  await waitFor(() => harness.double.asked[0]?.hungUp === true, {
    what: "the connection to be closed",
  });
});

it.each(ROUTES)("whoever gives up closes the connection to $name", async (route) => {
  await using harness = await startRoute(route);
  const reason = new Error("The run was cancelled.");
  const stop = new AbortController();
  harness.double.reply = () => {
    stop.abort(reason);
    return { trouble: "hangs" };
  };
  await expect(harness.ask({}, { signal: stop.signal })).rejects.toBe(reason);
  await waitFor(() => harness.double.asked[0]?.hungUp === true, {
    what: "the connection to be closed",
  });
  await expect(harness.ask({}, { signal: stop.signal })).rejects.toBe(reason);
  expect(harness.double.requests).toHaveLength(1);
});

it("a provider that nobody serves can't be reached, which may pass", async () => {
  await using harness = await startRoute(CHAT);
  await harness.double.close();
  const { failure, message } = await harness.fail();
  expect(failure).toMatchObject({ ...UNREACHED, retryable: true });
  await harness.fail();
  const { host } = new URL(harness.double.baseUrl);
  expect(message).not.toContain(host);
  // The operator alone learns the host, once.
  expect(harness.logged()).toMatchObject([
    {
      provider: "openai",
      setting: "OPENAI_BASE_URL",
      err: { message: expect.stringContaining(host) },
    },
  ]);
});

it("without a key nothing is asked, and the setting is named", async () => {
  const none = { baseUrl: "http://127.0.0.1:9", model: "none" };
  const models = createModels({ openai: { ...none, api: "auto" }, anthropic: none, logger });
  expect(models.missingSetting("anthropic")).toBe("ANTHROPIC_API_KEY");
  const signal = new AbortController().signal;
  const question = { system: "", messages: [], temperature: 0, maxTokens: 1, outputSchema: null };
  const exchange = { companyId: "one", signal, timeoutMs: 1_000, leftMs: 1_000, onSent: () => {} };
  const asking = models.ask("openai", question, exchange);
  const error = await asking.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ModelCallError);
  expect(error).toMatchObject({
    message: "Agents of the provider openai can't be asked: OPENAI_API_KEY is not set.",
    failure: { code: "NOT_CONFIGURED", status: null, retryable: false },
  });
  await models.close();
});

it("core agents use the default provider, or the only one with a key", async () => {
  await using openai = await startRoute(CHAT);
  await using anthropic = await startRoute(ANTHROPIC);
  expect([openai.models.coreProvider(), anthropic.models.coreProvider()]).toEqual([
    "openai",
    "anthropic",
  ]);
});

it("a company leaves room for others however much it asks", async () => {
  await using harness = await startRoute(CHAT);
  const { promise: held, resolve: release } = Promise.withResolvers<string>();
  harness.double.reply = (asked) => (asked.messages[0]?.text === "greedy" ? held : "Soon.");
  const greedy = Array.from({ length: 300 }, () =>
    harness.ask({ messages: [{ role: "user", text: "greedy" }] }, { companyId: "greedy" }),
  );
  await waitFor(() => harness.double.asked.length === 128, {
    what: "half of all places to be taken",
  });
  const other = await harness.ask({}, { companyId: "other" });
  expect(other.text).toBe("Soon.");
  expect(harness.double.asked).toHaveLength(129);
  // The time of an exchange begins with its place.
  const patient = harness.ask({}, { companyId: "greedy", timeoutMs: 3_000 });
  const late = await harness.fail({}, { companyId: "greedy", leftMs: 3_300 });
  expect(late.failure).toMatchObject({ code: "AGENT_TIMEOUT", mayHaveCost: false });
  expect(harness.double.asked).toHaveLength(129);
  release("At last.");
  expect((await patient).text).toBe("Soon.");
  expect(new Set((await Promise.all(greedy)).map(({ text }) => text))).toEqual(
    new Set(["At last."]),
  );
});

it("an answer of a status that no browser knows is an error too", async () => {
  const server = await startHttpDouble((_request, response) => {
    response.writeHead(799).end("{}");
  });
  const own = { apiKey: "key", baseUrl: server.url, model: "some" };
  const models = createModels({ openai: { ...own, api: "chat" }, anthropic: own, logger });
  const signal = new AbortController().signal;
  const question = { system: "", messages: [], temperature: 0, maxTokens: 1, outputSchema: null };
  const exchange = { companyId: "one", signal, timeoutMs: 5_000, leftMs: 5_000, onSent: () => {} };
  const asking = models.ask("openai", question, exchange);
  await expect(asking).rejects.toMatchObject({
    failure: { code: "AGENT_UNAVAILABLE", status: 799 },
  });
  await models.close();
  await server.close();
});

it("the operator hears once of what the operator has to mend, and when it has passed", async () => {
  await using harness = await startRoute(RESPONSES);
  const refused = { trouble: "unauthorized" } as const;
  harness.double.script.push(
    refused,
    refused,
    { trouble: "quota-exceeded" },
    { trouble: "redirects" },
  );
  for (let count = 1; count <= 4; count += 1) await harness.fail();
  await harness.ask();
  await harness.ask();
  harness.double.script.push({ trouble: "server-error" }, { trouble: "rate-limited" });
  await harness.fail();
  await harness.fail();
  expect(harness.logged()).toMatchObject([
    { level: 50, provider: "openai", setting: "OPENAI_API_KEY", status: 401 },
    { level: 50, provider: "openai", setting: "OPENAI_BASE_URL", status: 307 },
    { level: 30, provider: "openai" },
  ]);
  expect(JSON.stringify(harness.logged())).not.toContain(harness.double.key);
});

it("the operator hears which setting names a model that is not known", async () => {
  for (const [route, setting] of [
    [CHAT, "OPENAI_MODEL"],
    [ANTHROPIC, "ANTHROPIC_MODEL"],
  ] as const) {
    await using harness = await startRoute(route, { model: "none-such" });
    await harness.fail();
    expect(harness.logged()).toMatchObject([{ setting, status: 404 }]);
  }
});

/** All that a log could have of an error. */
function textOf(error: Error): string {
  const { message, stack, cause } = error;
  return [
    message,
    stack,
    JSON.stringify(error),
    cause instanceof Error ? textOf(cause) : "",
  ].join();
}
