import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "@jest/globals";
import { startDnsDouble, startHttpDouble } from "@workflow/testkit";
import { CHAT, startRoute } from "./support/models-harness.ts";

const AUTO = { ...CHAT, api: "auto" } as const;

it("a compatible server is asked by Chat Completions", async () => {
  await using harness = await startRoute(AUTO);
  await harness.ask();
  expect(harness.double.requests.map(({ path }) => path)).toEqual(["/v1/chat/completions"]);
  expect(harness.double.asked[0]?.body).not.toHaveProperty("store");
});

it.each([
  ["auto", "/v1/responses"],
  ["responses", "/v1/responses"],
  ["chat", "/v1/chat/completions"],
] as const)("OpenAI itself, by %s, is asked at %s and told to store nothing", async (api, path) => {
  await using openai = await startRoute(CHAT);
  await using names = await startDnsDouble(() => ["127.0.0.1"]);
  const { key, baseUrl } = openai.double;
  await using harness = await startRoute(
    { ...CHAT, api },
    { key, baseUrl: baseUrl.replace("127.0.0.1", "api.openai.com"), dnsServers: [names.address] },
  );
  await harness.ask();
  expect(openai.double.asked).toMatchObject([{ path, body: { store: false } }]);
});

it("a server that knows only Responses is found out once", async () => {
  await using harness = await startRoute(AUTO, { chat: false });
  expect((await harness.ask()).text).toBe("The answer.");
  await harness.ask();
  expect(harness.double.requests.map(({ path }) => path)).toEqual([
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/responses",
  ]);
});

it("a server that knows neither is an error, and each is tried again at the next question", async () => {
  await using harness = await startRoute(AUTO, { chat: false, responses: false });
  for (let count = 1; count <= 2; count += 1) {
    const { failure, message } = await harness.fail();
    expect(failure).toMatchObject({ status: 404, code: "AGENT_REFUSED" });
    expect(message).toContain("/v1/chat/completions");
    expect(harness.double.requests).toHaveLength(2 * count);
  }
});

it("a setting holds whatever the server knows", async () => {
  await using harness = await startRoute({ ...AUTO, api: "responses" }, { responses: false });
  await harness.fail();
  expect(harness.double.requests.map(({ path }) => path)).toEqual(["/v1/responses"]);
});

it("both requests have one time together", async () => {
  // The second comes to its answer within the time of one question, not within what is left of it.
  const server = await startHttpDouble(async ({ path }) => {
    const isChat = path.endsWith("/chat/completions");
    await pause(isChat ? 2_000 : 4_000);
    return { status: isChat ? 404 : 500, body: {} };
  });
  await using harness = await startRoute(AUTO, { baseUrl: `${server.url}/v1` });
  const { failure } = await harness.fail({}, { timeoutMs: 5_500 });
  expect(failure.code).toBe("AGENT_TIMEOUT");
  expect(server.requests).toHaveLength(2);
  await server.close();
});
