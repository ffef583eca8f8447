import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createTestDatabase, startHttpDouble } from "@workflow/testkit";
import type { HttpDouble, TestDatabase } from "@workflow/testkit";
import { createActive, runToEnd, transform } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import { writtenUrls } from "../support/written-urls.ts";

/* D66: a secret that is bound to hosts reaches no other host, on no way out of a run. */

const VALUE = "sk_live_4eC39HqLyjWDarjtT1zdp7dc";
const REFUSED = "SECRET_HOST_NOT_ALLOWED";

let testDatabase: TestDatabase;
let system: WholeSystem;
/** Redirects to the address in the query, and answers with the request. */
let receiver: HttpDouble;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  system = await startWholeSystem({ databaseUrl: testDatabase.connectionUri });
  receiver = await startHttpDouble(({ path, headers, body }) => {
    const location = new URL(path, "http://host").searchParams.get("to");
    return location === null
      ? { body: { headers, body } }
      : { status: 307, headers: { location: decodeURIComponent(location) } };
  });
});
afterAll(async () => {
  await system.stop();
  await receiver.close();
  await testDatabase.close();
});

async function workflowWith(steps: unknown[], allowedHosts: unknown, value = VALUE) {
  const workflowId = await createActive(system, { steps });
  const secret = { key: "TOKEN", value, allowedHosts };
  const stored = await system.call("POST", `/workflows/${workflowId}/secrets`, { body: secret });
  expect(stored).toMatchObject({ status: 200 });
  return workflowId;
}

async function runWith(steps: unknown[], allowedHosts: unknown, input: object = {}) {
  return runToEnd(system, await workflowWith(steps, allowedHosts), input);
}

const request = (id: string, config: object, more: object = {}) => ({
  id,
  type: "action",
  name: id,
  action: "http.request",
  config: { method: "POST", timeoutMs: 5_000, ...config },
  ...more,
});
const action = (id: string, name: string, config: object) => ({
  id,
  type: "action",
  name: id,
  action: name,
  config,
});

describe("a bound secret", () => {
  it("goes to the hosts that it is bound to, however a URL writes them, and to no other", async () => {
    const { allowed, refused, userInfo } = writtenUrls(receiver.port);
    const send = request(
      "send",
      { url: "{{loop.item}}", headers: { "x-token": "{{secrets.TOKEN}}" } },
      { onError: "continue" },
    );
    const everywhere = {
      id: "all",
      type: "parallel",
      name: "all",
      config: { forEach: "{{input.urls}}", steps: [send] },
    };
    const hosts = [
      "127.0.0.1",
      "API.allowed.invalid.",
      "*.wild.invalid",
      "münchen.invalid",
      "[::1]",
    ];
    const urls = [...allowed, ...refused, ...userInfo];
    const run = await runWith([everywhere], hosts, { urls });
    const codeOf = (url: string) => {
      const path = `all[${urls.indexOf(url)}].send`;
      const result = run.stepResults.find((each) => each.path === path);
      return [url, result?.error?.code ?? result?.status];
    };
    expect(allowed.map(codeOf).filter(([, code]) => code === REFUSED)).toEqual([]);
    expect(refused.map(codeOf).filter(([, code]) => code !== REFUSED)).toEqual([]);
    // Other faults of a URL are told only for hosts to which the secret is bound.
    expect(userInfo.map(codeOf).map(([, code]) => code)).toEqual([REFUSED, "INVALID_URL"]);
    const paths = ["/exact", "/hexadecimal", "/number"];
    const received = receiver.requests.filter(({ headers }) => headers["x-token"] === VALUE);
    expect(received.map(({ path }) => path).toSorted()).toEqual(paths.toSorted());
    expect(JSON.stringify(run)).not.toContain(VALUE);
  });

  const TOKEN = "{{secrets.TOKEN}}";
  const elsewhere = (path: string) => `http://localhost:${receiver.port}/${path}`;
  const exits: [string, () => object][] = [
    ["the path of a request", () => request("s", { url: elsewhere(TOKEN) })],
    ["its query", () => request("s", { url: elsewhere("q"), query: { a: [`x${TOKEN}`] } })],
    ["its host", () => request("s", { url: `https://${TOKEN}.other.invalid/` })],
    ["its headers", () => request("s", { url: elsewhere("h"), headers: { "x-a": TOKEN } })],
    ["its body", () => request("s", { url: elsewhere("b"), body: { a: [TOKEN] } })],
    [
      "its bearer token",
      () => request("s", { url: elsewhere("t"), auth: { type: "bearer", token: TOKEN } }),
    ],
    [
      "its basic credentials",
      () =>
        request("s", {
          url: elsewhere("c"),
          auth: { type: "basic", username: "ada", password: TOKEN },
        }),
    ],
    [
      "an e-mail",
      () => ({
        id: "s",
        type: "email",
        name: "s",
        config: { to: "ada@example.com", subject: "Hello", text: TOKEN },
      }),
    ],
    [
      "a row",
      () => action("s", "table.insert", { tableId: "{{run.id}}", data: { name: `a ${TOKEN}` } }),
    ],
    [
      "a filter of rows",
      () => action("s", "table.query", { tableId: "{{run.id}}", filter: { name: TOKEN } }),
    ],
    [
      "a child run",
      () => ({
        id: "s",
        type: "workflow",
        name: "s",
        config: { workflowId: "{{run.workflowId}}", input: { token: TOKEN } },
      }),
    ],
    [
      "the message of an approval",
      () => ({ id: "s", type: "approval", name: "s", config: { message: `May ${TOKEN} go?` } }),
    ],
    [
      "an agent",
      () => ({ id: "s", type: "agent", name: "s", config: { agentId: "a", input: { a: TOKEN } } }),
    ],
    ["a mapping", () => transform("s", { token: TOKEN })],
    [
      "an expression",
      () => ({
        id: "s",
        type: "transform",
        name: "s",
        config: { expression: '$join($reverse($split(t, "")))', input: { t: TOKEN } },
      }),
    ],
    ["a text", () => action("s", "text.template", { template: "{{'{{'}}x", values: { x: TOKEN } })],
    ["a JSON text", () => action("s", "json.stringify", { value: [TOKEN] })],
    ["a date's format", () => action("s", "datetime.format", { value: 0, format: TOKEN })],
    ["a digest", () => action("s", "crypto.hash", { algorithm: "sha256", text: TOKEN })],
    [
      "the text of a keyed digest",
      () => action("s", "crypto.hmac", { algorithm: "sha256", text: TOKEN, key: TOKEN }),
    ],
    ["the output of the run", () => action("s", "workflow.respond", { output: TOKEN })],
    ["a loop", () => ({ ...loopOver({ items: [TOKEN] }), id: "s" })],
    [
      "the items of a parallel step",
      () => ({
        id: "s",
        type: "parallel",
        name: "s",
        config: { forEach: [TOKEN], steps: [transform("in", "{{loop.item}}")] },
      }),
    ],
    [
      "a comparison, bit by bit",
      () => ({
        id: "s",
        type: "condition",
        name: "s",
        config: {
          branches: [
            { id: "a", when: { left: TOKEN, operator: "starts_with", right: "s" }, steps: [] },
          ],
        },
      }),
    ],
    [
      "the condition of a step",
      () => ({
        ...transform("s", 1),
        when: { left: TOKEN, operator: "greater_than", right: "a" },
      }),
    ],
    [
      "the time of a delay",
      () => ({ id: "s", type: "delay", name: "s", config: { until: TOKEN } }),
    ],
  ];
  const loopOver = (over: object) => ({
    type: "loop",
    name: "s",
    config: { ...over, steps: [transform("in", "{{loop.item}}")] },
  });

  it.each(exits)("does not leave through %s, and no other try is made", async (_where, step) => {
    const before = receiver.requests.length;
    const retry = { maxAttempts: 3, delayMs: 1, backoff: "fixed" };
    const run = await runWith([{ ...step(), retry }, transform("next", 1)], ["127.0.0.1"]);
    expect(run).toMatchObject({ status: "failed", error: { code: REFUSED } });
    expect(run.stepResults).toMatchObject([{ path: "s", attempt: 1, error: { code: REFUSED } }]);
    expect(receiver.requests.length).toBe(before);
    expect(JSON.stringify(run)).not.toContain(VALUE);
  });

  it("does not make a URL fail in another way by what it is", async () => {
    const urls = [
      "http://localhost:6{{secrets.PIN}}/",
      "http://0.0.0.{{secrets.PIN}}/",
      "{{secrets.PIN}}",
    ];
    for (const pin of ["255", "5535", "5536"]) {
      const steps = urls.map((url, n) => request(`s${n}`, { url }, { onError: "continue" }));
      const workflowId = await workflowWith(steps, ["127.0.0.1"]);
      const body = { key: "PIN", value: pin, allowedHosts: ["api.allowed.invalid"] };
      await system.call("POST", `/workflows/${workflowId}/secrets`, { body });
      const { stepResults } = await runToEnd(system, workflowId);
      for (const { error } of stepResults) {
        expect(error).toEqual({
          code: REFUSED,
          message: expect.stringContaining("PIN"),
          details: { secretKey: "PIN" },
        });
      }
    }
  });

  it("may be the key of a digest, which does not give it away", async () => {
    const sign = action("sign", "crypto.hmac", { algorithm: "sha256", text: "a", key: TOKEN });
    const run = await runWith([sign], ["127.0.0.1"]);
    expect(run).toMatchObject({
      status: "completed",
      output: { digest: expect.stringMatching(/^[\da-f]{64}$/) },
    });
  });

  it("is recognised without a template that names it, in any form", async () => {
    const forms = [VALUE, Buffer.from(`ada:${VALUE}`).toString("base64"), VALUE.toUpperCase()];
    for (const echoed of forms) {
      const send = (id: string, url: string) =>
        request(id, { url, body: { echoed: "{{input.echoed}}" } }, { onError: "continue" });
      const steps = [send("there", `${receiver.url}/known`), send("away", elsewhere("unknown"))];
      // Any template with the secret makes the run know it.
      const known = request("known", { url: `${receiver.url}/own`, body: TOKEN });
      const run = await runWith([known, ...steps], ["127.0.0.1"], { echoed });
      expect(run.stepResults).toMatchObject([
        { path: "known", status: "success" },
        { path: "there", status: "success" },
        { path: "away", status: "error", error: { code: REFUSED } },
      ]);
    }
    expect(receiver.requests.filter(({ path }) => path === "/unknown")).toEqual([]);
  });

  it("does not follow a redirect to another host, and follows one to a host of its own", async () => {
    const redirected = (id: string, to: string, more: object) =>
      request(
        id,
        {
          url: `${receiver.url}/${id}?to=${encodeURIComponent(to)}`,
          headers: { "x-custom": TOKEN },
          followRedirects: 3,
          ...more,
        },
        { onError: "continue" },
      );
    const run = await runWith(
      [
        redirected("away", elsewhere("landed"), { method: "GET" }),
        // Another origin gets no body, bound secret or not.
        redirected("awayWithBody", elsewhere("landed"), { body: TOKEN }),
        redirected("home", `${receiver.url}/landed`, { body: TOKEN }),
      ],
      ["127.0.0.1"],
    );
    expect(run.stepResults).toMatchObject([
      { path: "away", status: "error", error: { code: REFUSED } },
      { path: "awayWithBody", status: "error", error: { code: "REDIRECT_REFUSED" } },
      { path: "home", status: "success" },
    ]);
    const landed = receiver.requests.filter(({ path }) => path === "/landed");
    expect(landed.map(({ headers }) => headers.host)).toEqual([`127.0.0.1:${receiver.port}`]);
  });

  it("does not keep unbound secrets of the same run from going anywhere", async () => {
    const send = request("send", { url: elsewhere("free"), body: "{{secrets.FREE}}" });
    const known = request("known", { url: `${receiver.url}/own`, body: TOKEN });
    const workflowId = await workflowWith([known, send], ["127.0.0.1"]);
    const free = { key: "FREE", value: "an unbound secret" };
    await system.call("POST", `/workflows/${workflowId}/secrets`, { body: free });
    expect(await runToEnd(system, workflowId)).toMatchObject({ status: "completed" });
    const received = receiver.requests.filter(({ path }) => path === "/free");
    expect(received.map(({ body }) => body)).toEqual([free.value]);
  });
});
