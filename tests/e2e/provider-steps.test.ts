import { once } from "node:events";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble, RecordedRequest } from "@workflow/testkit";
import { z } from "zod";
import { createActive, postRun, runIdOf, runToEnd, waitForRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { Company, WholeSystem } from "../support/whole-system.ts";

const KEY = "re_canary/key+1";

let system: WholeSystem;
let server: HttpDouble;
/** A host that is not the provider's. */
let elsewhere: HttpDouble;
let handler: DoubleHandler;
const logged: string[] = [];
/** The connections of the case that runs. */
const connected: { id: string; company: Company }[] = [];

beforeAll(async () => {
  elsewhere = await startHttpDouble();
  server = await startHttpDouble((request, response) =>
    request.path === "/resend/domains" ? { body: { data: [] } } : handler(request, response),
  );
  system = await startWholeSystem({
    providers: new Map([["resend", { baseUrl: `${server.url}/resend` }]]),
    log: { write: (line) => void logged.push(line) },
  });
});
beforeEach(() => {
  handler = () => ({ body: { object: "contact", id: "c_1" } });
  server.requests.length = 0;
});
afterEach(disconnectAll);
/** Last, whatever the order of the cases: there are lines of all of them to look at. */
afterAll(() => {
  expect(logged.join("")).toContain("ActionsService/ExecuteAction");
  expect(logged.join("")).not.toContain("canary");
});
afterAll(async () => {
  await system.stop();
  await server.close();
  await elsewhere.close();
});

async function connect(apiKey = KEY, company: Company = system.acme): Promise<string> {
  const body = { apiKey, name: `Mail ${apiKey.length}` };
  const answer = await system.call("POST", "/connections/resend/api-key", {
    key: company.key,
    body,
  });
  expect(answer.status).toBe(201);
  server.requests.length = 0;
  const { id } = z.object({ id: z.string() }).parse(answer.data);
  connected.push({ id, company });
  return id;
}

/** A step without a connection is told of ten: those of earlier cases would leave no place for its own. */
async function disconnectAll(): Promise<void> {
  for (const { id, company } of connected.splice(0)) {
    const answer = await system.call("DELETE", `/connections/${id}`, { key: company.key });
    expect([200, 404]).toContain(answer.status);
  }
}

const step = (action: string, config: object, more: object = {}) => ({
  id: "call",
  type: "action",
  name: "call",
  action,
  config,
  ...more,
});
const createContact = (config: object, more: object = {}) =>
  step("resend.createContact", { email: "{{input.email}}", ...config }, more);
/** Unlike contacts, e-mails are made once by their idempotency key. */
const sendEmail = (config: object, more: object = {}) =>
  step(
    "resend.sendEmail",
    { from: "billing@acme.example", to: "{{input.email}}", subject: "Paid", text: "-", ...config },
    more,
  );
const input = { email: "ada@example.com" };

async function run(steps: readonly object[], given: object = input) {
  return runToEnd(system, await createActive(system, { steps }), given);
}

function onlyRequest(): RecordedRequest {
  const [request, ...others] = server.requests;
  if (request === undefined || others.length > 0) {
    throw new Error(`Expected one request, got ${server.requests.length}`);
  }
  return request;
}

describe("a step with a provider's action", () => {
  it("calls it with the connection that it names; the output is what the action returns", async () => {
    const connectionId = await connect();
    const ended = await run([createContact({ connectionId, first_name: "Ada" })]);
    expect(ended).toMatchObject({
      status: "completed",
      output: { object: "contact", id: "c_1" },
      stepResults: [{ input: { email: "ada@example.com", first_name: "Ada" }, attempt: 1 }],
    });
    const { method, path, headers, body, idempotencyKey } = onlyRequest();
    expect([method, path]).toEqual(["POST", "/resend/contacts"]);
    expect(headers.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.parse(body)).toEqual({ email: "ada@example.com", first_name: "Ada" });
    expect(idempotencyKey).toBeNull();
  });

  it("takes the run's connection where it names none, and tells who could be meant without any", async () => {
    const [one, two] = [await connect("re_canary_one"), await connect("re_canary_two")];
    const workflowId = await createActive(system, { steps: [createContact({})] });
    const started = await postRun(system, workflowId, { input, connectionId: two });
    expect((await waitForRun(system, runIdOf(started))).status).toBe("completed");
    expect(onlyRequest().headers.authorization).toBe("Bearer re_canary_two");
    const failed = await runToEnd(system, workflowId, input);
    expect(failed.stepResults[0]?.error).toMatchObject({
      code: "CONNECTION_REQUIRED",
      details: {
        provider: "resend",
        candidates: expect.arrayContaining([
          expect.objectContaining({ id: one }),
          expect.objectContaining({ id: two }),
        ]),
      },
    });
  });

  it("fails once its connection was deleted", async () => {
    const connectionId = await connect();
    const workflowId = await createActive(system, { steps: [createContact({ connectionId })] });
    const deleted = await system.call("DELETE", `/connections/${connectionId}`);
    expect(deleted.status).toBe(200);
    const error = await waitFor(async () => {
      const { stepResults } = await runToEnd(system, workflowId, input);
      return stepResults[0]?.error ?? null;
    });
    expect(error.code).toMatch(/^CONNECTION_NOT_(FOUND|ACTIVE)$/);
  });

  it("has its inputs checked again when templates have values", async () => {
    const connectionId = await connect();
    const ended = await run([createContact({ connectionId })], { email: "" });
    expect(ended.stepResults[0]?.error).toMatchObject({
      code: "INVALID_INPUT",
      details: { problems: [{ path: ["email"], message: "is required" }] },
    });
    expect(server.requests).toEqual([]);
  });

  it("tells what the provider said, and is tried again where that may help", async () => {
    const connectionId = await connect();
    let asked = 0;
    handler = () => {
      asked += 1;
      if (asked === 1) return { status: 503, body: { name: "unavailable", message: "Later" } };
      return { status: 422, body: { name: "validation_error", message: "Not like this" } };
    };
    const retry = { maxAttempts: 4, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };
    const ended = await run([createContact({ connectionId }, { retry })]);
    const failure = { provider: "resend", connectionId };
    expect(ended.stepResults[0]).toMatchObject({
      attempt: 2,
      error: {
        code: "PROVIDER_ERROR",
        message: "Resend: Not like this",
        details: {
          ...failure,
          status: 422,
          code: "validation_error",
          message: "Not like this",
          retryable: false,
        },
      },
      previousAttempts: [{ error: { details: { ...failure, status: 503, retryable: true } } }],
    });
  });

  it("keeps its key after an answer that leaves open what became of the call", async () => {
    const connectionId = await connect();
    const answers = [{ status: 502, body: { message: "Bad gateway" } }, { body: { id: "c_1" } }];
    handler = () => answers.shift() ?? { status: 500 };
    const retry = { maxAttempts: 2, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };
    const ended = await run([sendEmail({ connectionId }, { retry })]);
    expect(ended).toMatchObject({ status: "completed", stepResults: [{ attempt: 2 }] });
    const key = `${ended.id}:call:1`;
    expect(server.requests.map(({ idempotencyKey }) => idempotencyKey)).toEqual([key, key]);
  });

  it("gives the call up with its run", async () => {
    const connectionId = await connect();
    let hungUp: Promise<unknown> | undefined;
    handler = async (_, response) => {
      hungUp = once(response, "close");
      await hungUp;
    };
    const workflowId = await createActive(system, { steps: [createContact({ connectionId })] });
    const id = runIdOf(await postRun(system, workflowId, { input }));
    await waitFor(() => hungUp !== undefined);
    expect((await system.call("POST", `/runs/${id}/cancel`)).status).toBe(200);
    await hungUp;
    expect((await waitForRun(system, id)).status).toBe("cancelled");
  });

  it("keeps secrets out of what is stored, and bound ones with their hosts (D66)", async () => {
    const connectionId = await connect();
    const config = { connectionId, first_name: "{{secrets.NAME}}" };
    const workflowId = await createActive(system, { steps: [createContact(config)] });
    const store = (body: object) =>
      system.call("POST", `/workflows/${workflowId}/secrets`, { body });
    await store({ key: "NAME", value: "canary-name" });
    handler = ({ body }) => ({ body: { id: "c_1", echo: JSON.parse(body) } });
    const ended = await runToEnd(system, workflowId, input);
    expect(JSON.parse(server.requests[0]?.body ?? "").first_name).toBe("canary-name");
    expect(ended.stepResults[0]).toMatchObject({
      input: { first_name: "••••" },
      output: { echo: { first_name: "••••" } },
    });
    const bind = (allowedHosts: string[]) =>
      system.call("PUT", `/workflows/${workflowId}/secrets/NAME`, {
        body: { value: "canary-name", allowedHosts },
      });
    expect((await bind(["api.example.com"])).status).toBe(200);
    server.requests.length = 0;
    const refused = await runToEnd(system, workflowId, input);
    expect(refused.stepResults[0]?.error?.code).toBe("SECRET_HOST_NOT_ALLOWED");
    expect(server.requests).toEqual([]);
    expect((await bind(["127.0.0.1"])).status).toBe(200);
    expect((await runToEnd(system, workflowId, input)).status).toBe("completed");
  });
});

describe("a provider's words", () => {
  it("are cut before the run's secrets are looked for, and hold no part of one all the same", async () => {
    const connectionId = await connect();
    const secret = "Qz7wX4kP9mV2sT8b";
    const config = { connectionId, first_name: "{{secrets.NAME}}" };
    const workflowId = await createActive(system, { steps: [createContact(config)] });
    const body = { key: "NAME", value: secret };
    await system.call("POST", `/workflows/${workflowId}/secrets`, { body });
    // So much of code and message is told: the cut goes through the secret.
    for (const shown of [4, 8, 15]) {
      handler = () => ({
        status: 422,
        body: {
          name: ".".repeat(100 - shown) + secret,
          message: ".".repeat(1_000 - shown) + secret,
        },
      });
      const { error } = (await runToEnd(system, workflowId, input)).stepResults[0] ?? {};
      expect(error).toMatchObject({
        code: "PROVIDER_ERROR",
        details: {
          code: expect.stringMatching(/^\.+••••$/),
          message: expect.stringMatching(/^\.+••••$/),
        },
      });
      expect(JSON.stringify(error)).not.toContain(secret.slice(0, 4));
    }
  });
});

describe("a provider that is called too often", () => {
  const tooMany = (seconds: number): ReturnType<DoubleHandler> => ({
    status: 429,
    headers: { "retry-after": String(seconds) },
    body: { name: "rate_limit_exceeded", message: "Too many requests" },
  });

  it("is asked again after the pause, which is no attempt", async () => {
    const connectionId = await connect();
    let asked = 0;
    handler = () => {
      asked += 1;
      return asked === 1 ? tooMany(1) : { body: { id: "c_1" } };
    };
    const ended = await run([sendEmail({ connectionId })]);
    expect(ended).toMatchObject({ status: "completed", stepResults: [{ attempt: 1 }] });
    expect(asked).toBe(2);
    const [first, second] = server.requests.map(({ receivedAt }) => receivedAt.getTime());
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(950);
    expect([...server.keyCounts().values()]).toEqual([2]);
  });

  it("holds up neither a step's timeout nor steps with other connections", async () => {
    const [slow, quick] = [await connect("re_canary_slow"), await connect("re_canary_quick")];
    handler = ({ headers }) =>
      headers.authorization === "Bearer re_canary_slow" ? tooMany(600) : { body: { id: "c_1" } };
    const waiting = await createActive(system, {
      steps: [createContact({ connectionId: slow })],
    });
    const runs = await Promise.all(
      Array.from({ length: 60 }, () => postRun(system, waiting, { input })),
    );
    // More runs wait than the worker has places, and others go on all the same.
    const steps = [createContact({ connectionId: quick })];
    const done = await Promise.all(Array.from({ length: 5 }, () => run(steps)));
    expect(done.map(({ status }) => status)).toEqual(done.map(() => "completed"));
    const timed = await run([createContact({ connectionId: slow }, { timeoutMs: 300 })]);
    expect(timed.stepResults[0]?.error?.code).toBe("TIMEOUT");
    await Promise.all(
      runs.map((started) => system.call("POST", `/runs/${runIdOf(started)}/cancel`)),
    );
  });
});

describe("http.request with a connection", () => {
  const request = (config: object, auth: object) =>
    step("http.request", { method: "GET", ...config, auth: { type: "connection", ...auth } });

  it("is signed like the provider's own actions, and its answer holds no credential", async () => {
    const connectionId = await connect();
    handler = () => ({
      headers: { "x-echo": `Bearer ${KEY}` },
      body: { said: [Buffer.from(KEY).toString("base64"), encodeURIComponent(KEY)] },
    });
    const url = `${server.url}/resend/anything?a=1`;
    const ended = await run([request({ url }, { connectionId, provider: "resend" })]);
    expect(ended.output).toMatchObject({
      status: 200,
      headers: { "x-echo": "Bearer ••••" },
      body: { said: ["••••", "••••"] },
    });
    expect(onlyRequest().headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it("goes to no other host, neither at first nor by a redirect", async () => {
    const connectionId = await connect();
    elsewhere.requests.length = 0;
    const straight = await run([request({ url: elsewhere.url }, { connectionId })]);
    expect(straight.stepResults[0]?.error).toMatchObject({
      code: "CONNECTION_HOST_NOT_ALLOWED",
      details: { provider: "resend", connectionId, host: new URL(elsewhere.url).host },
    });
    handler = () => ({ status: 302, headers: { location: elsewhere.url } });
    const config = { url: `${server.url}/resend/moved`, followRedirects: 3 };
    const moved = await run([request(config, { connectionId })]);
    expect(moved.stepResults[0]?.error?.code).toBe("CONNECTION_HOST_NOT_ALLOWED");
    expect(elsewhere.requests).toEqual([]);
  });

  it("fails without a credential in what is recorded", async () => {
    const connectionId = await connect();
    handler = () => ({ status: 400, body: { message: `no such key: ${KEY}` } });
    const ended = await run([request({ url: `${server.url}/resend/x` }, { connectionId })]);
    const { error } = ended.stepResults[0] ?? {};
    expect(error).toMatchObject({ code: "HTTP_STATUS", details: { status: 400 } });
    expect(JSON.stringify(error)).toContain("no such key: ••••");
  });

  it("waits while the connection is paused, and its own answer pauses it", async () => {
    const connectionId = await connect();
    let asked = 0;
    handler = () => {
      asked += 1;
      if (asked > 1) return { body: {} };
      return { status: 429, headers: { "retry-after": "1" } };
    };
    const ended = await run([request({ url: `${server.url}/resend/x` }, { connectionId })]);
    expect(ended).toMatchObject({ status: "completed", stepResults: [{ attempt: 1 }] });
    expect(asked).toBe(2);
  });

  it("of another company's connection does not exist", async () => {
    const connectionId = await connect(KEY, system.globex);
    const ended = await run([request({ url: `${server.url}/resend/x` }, { connectionId })]);
    expect(ended.stepResults[0]?.error?.code).toBe("CONNECTION_NOT_FOUND");
    expect(server.requests).toEqual([]);
  });
});

describe("a plan", () => {
  it("names providers without an active connection and connections that are not there", async () => {
    const connectionId = await connect();
    const foreign = await connect(KEY, system.globex);
    const steps = [
      { ...createContact({}), id: "any" },
      { ...createContact({ connectionId }), id: "named" },
      { ...createContact({ connectionId: foreign }), id: "foreign" },
      { ...step("slack.findUserByEmail", { email: "a@b.example" }), id: "slack" },
      {
        ...step("http.request", {
          method: "GET",
          url: "https://api.stripe.com",
          auth: { type: "connection", provider: "stripe" },
        }),
        id: "http",
      },
    ];
    const id = await createActive(system, { steps });
    const { data } = await system.call("POST", `/workflows/${id}/plan`, { body: { input } });
    expect(data).toMatchObject({
      missing: {
        connections: ["resend", "slack", "stripe"],
        connectionIds: [foreign],
        choices: [],
      },
    });
  });

  it("names providers of which several are active and none is chosen", async () => {
    const connectionId = await connect();
    await connect();
    const chosen = await createActive(system, { steps: [createContact({ connectionId })] });
    const open = await createActive(system, { steps: [createContact({})] });
    const missingOf = async (id: string): Promise<unknown> => {
      const { data } = await system.call("POST", `/workflows/${id}/plan`, { body: { input } });
      return z.object({ missing: z.unknown() }).parse(data).missing;
    };
    const none = { secrets: [], connections: [], connectionIds: [], agents: [] };
    expect(await missingOf(chosen)).toEqual({ ...none, choices: [] });
    expect(await missingOf(open)).toEqual({ ...none, choices: ["resend"] });
  });
});
