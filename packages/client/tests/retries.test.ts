import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  ApiError,
  ConnectionError,
  createClient,
  InvalidAnswerError,
  isApiError,
  TimeoutError,
} from "@workflow/client";
import type { WorkflowClient } from "@workflow/client";
import { freePort, startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";

/** Answers the first requests by these, and all others well. */
let script: DoubleHandler[];
let double: HttpDouble;
let client: WorkflowClient;

const ID = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";
const STARTED = { run_id: "run_1", runId: "run_1", status: "pending" };

beforeEach(async () => {
  script = [];
  double = await startHttpDouble((request, response) => {
    const next = script.shift();
    return next === undefined ? good(STARTED) : next(request, response);
  });
  client = createClient({ baseUrl: `${double.url}/api/v1`, apiKey: "wfk_test" });
});

afterEach(() => double.close());

describe("what is sent again", () => {
  test.each([502, 503, 504])("a read that is answered %i, twice at most", async (status) => {
    script = [refuse(status, "UNAVAILABLE"), refuse(status, "UNAVAILABLE")];
    await client.runs.get("run_1");
    expect(double.requests).toHaveLength(3);

    script = [1, 2, 3].map(() => refuse(status, "UNAVAILABLE"));
    await expect(client.runs.get("run_1")).rejects.toMatchObject({ status, attempts: 3 });
    expect(double.requests).toHaveLength(6);
  });

  test("a read whose answer breaks off in the middle", async () => {
    script = [half, half];
    await expect(client.runs.get("run_1")).resolves.toEqual(STARTED);
    expect(double.requests).toHaveLength(3);
  });

  test("a read whose connection is cut without an answer", async () => {
    script = [hangUp];
    await expect(client.runs.get("run_1")).resolves.toEqual(STARTED);
    expect(double.requests).toHaveLength(2);
  });

  test("a read that is not answered in time", async () => {
    script = [silence];
    await expect(client.runs.get("run_1", { timeoutMs: 2_000 })).resolves.toEqual(STARTED);
    expect(double.requests).toHaveLength(2);
  });

  test("the start of a run, under the key of its first try", async () => {
    script = [hangUp, half];
    await client.workflows.run(ID, { input: { n: 1 } });
    expect(double.requests).toHaveLength(3);
    expect([...double.keyCounts().values()]).toEqual([3]);
    expect(new Set(double.requests.map(({ body }) => body))).toEqual(
      new Set(['{"input":{"n":1}}']),
    );
  });

  test("starts of their own have keys of their own", async () => {
    await client.workflows.run(ID);
    await client.workflows.run(ID);
    expect([...double.keyCounts().values()]).toEqual([1, 1]);
  });

  test("a key that the caller chose goes before", async () => {
    await client.workflows.run(ID, {}, { idempotencyKey: "order-1" });
    expect(double.countByKey("order-1")).toBe(1);
    await client.workflows.run(ID, { idempotencyKey: "order-2" });
    expect(double.requests[1]).toMatchObject({
      idempotencyKey: null,
      body: '{"idempotencyKey":"order-2"}',
    });
  });

  test("what a limit refuses, whatever it is", async () => {
    script = [refuse(429, "RATE_LIMITED", { "retry-after": "0" })];
    await client.tables.create({ name: "Orders" });
    expect(double.requests).toHaveLength(2);
  });

  test("a POST that only reads", async () => {
    script = [hangUp];
    await client.workflows.plan(ID);
    expect(double.requests).toHaveLength(2);
  });
});

describe("what is not sent again", () => {
  test.each([
    ["breaks off", half, ConnectionError],
    ["is cut", hangUp, ConnectionError],
    ["is a 503", refuse(503, "UNAVAILABLE"), ApiError],
    ["is a proxy's 502", { status: 502, body: "<h1>Bad gateway</h1>" }, ApiError],
  ] as const)("a change without a key whose answer %s", async (_, answer, error) => {
    script = [typeof answer === "function" ? answer : () => answer];
    await expect(client.tables.create({ name: "Orders" })).rejects.toBeInstanceOf(error);
    expect(double.requests).toHaveLength(1);
  });

  test("a change that was not answered in time", async () => {
    script = [silence];
    const creating = client.tables.create({ name: "Orders" }, { timeoutMs: 200 });
    await expect(creating).rejects.toBeInstanceOf(TimeoutError);
    expect(double.requests).toHaveLength(1);
  });

  test.each([400, 401, 403, 404, 409, 413, 500])("anything that is answered %i", async (status) => {
    script = [refuse(status, "NO")];
    await expect(client.runs.get("run_1")).rejects.toMatchObject({ code: "NO", status });
    expect(double.requests).toHaveLength(1);
  });

  test("anything when the caller wants no retries", async () => {
    script = [hangUp];
    const reading = client.runs.get("run_1", { maxRetries: 0 });
    await expect(reading).rejects.toBeInstanceOf(ConnectionError);
    expect(double.requests).toHaveLength(1);
  });
});

describe("how long it waits", () => {
  test("as long as Retry-After says", async () => {
    let isOverAt = 0;
    const limited: DoubleHandler = (request, response) => {
      if (isOverAt === 0) isOverAt = Date.now() + 1_000;
      if (Date.now() >= isOverAt) return good(STARTED);
      return refuse(429, "RATE_LIMITED", { "retry-after": "1" })(request, response);
    };
    script = [limited, limited];
    await client.runs.get("run_1", { maxRetries: 1 });
    expect(double.requests).toHaveLength(2);
  });

  test.each([
    ["seconds", () => "3600"],
    ["a date", () => new Date(Date.now() + 3_600_000).toUTCString()],
  ])("not longer than the caller wants, when it says %s", async (_, header) => {
    script = [refuse(429, "RATE_LIMITED", { "retry-after": header() })];
    const error = await failureOf(client.runs.get("run_1"));
    expect(double.requests).toHaveLength(1);
    expect(isApiError(error, "RATE_LIMITED") && error.retryAfterMs).toBeGreaterThan(3_500_000);
  });

  test("until the caller's signal is aborted", async () => {
    const controller = new AbortController();
    script = [refuse(429, "RATE_LIMITED", { "retry-after": "50" })];
    const reading = client.runs.get("run_1", {
      signal: controller.signal,
      onResponse: () => {},
    });
    await waitFor(() => double.requests.length > 0);
    controller.abort(new Error("Enough."));
    await expect(reading).rejects.toThrow("Enough.");
    expect(double.requests).toHaveLength(1);
  });
});

test("a sync start is waited for as long as the service may take for it", async () => {
  let isLate = false;
  script = [
    async (_, response) => {
      // Longer than the client waits for anything else.
      await new Promise((resolve) => setTimeout(resolve, 300));
      isLate = response.destroyed;
      return good(STARTED);
    },
  ];
  const hasty = createClient({ baseUrl: double.url, apiKey: "wfk_test", timeoutMs: 100 });
  await hasty.workflows.run(ID, { mode: "sync", maxExecutionTimeMs: 60_000 });
  expect(isLate).toBe(false);
  expect(double.requests).toHaveLength(1);
});

describe("a caller's signal", () => {
  test("ends a request that is under way", async () => {
    const controller = new AbortController();
    let closed: Promise<unknown> | undefined;
    script = [
      (_, response) => {
        closed = once(response, "close");
        controller.abort(new Error("Enough."));
      },
    ];
    const reading = client.runs.get("run_1", { signal: controller.signal });
    await expect(reading).rejects.toThrow("Enough.");
    await closed;
  });

  test("that is aborted already lets nothing be sent", async () => {
    const signal = AbortSignal.abort(new Error("Enough."));
    await expect(client.runs.get("run_1", { signal })).rejects.toThrow("Enough.");
    expect(double.requests).toHaveLength(0);
  });
});

describe("answers that are none of the API's", () => {
  test.each([
    ["a page", { headers: { "content-type": "text/html" }, body: "<h1>Hello</h1>" }],
    ["half of an answer, whole by its length", { body: '{"success":true,"da' }],
    ["JSON of another kind", { body: { data: [] } }],
    ["nothing", {}],
  ])("%s with status 200 is an InvalidAnswerError", async (_, answer) => {
    script = [() => answer];
    await expect(client.runs.get("run_1")).rejects.toBeInstanceOf(InvalidAnswerError);
    expect(double.requests).toHaveLength(1);
  });

  test("a redirect is not followed, so that the key goes nowhere else", async () => {
    const elsewhere = await startHttpDouble(() => good(STARTED));
    script = [() => ({ status: 307, headers: { location: `${elsewhere.url}/api/v1/runs/x` } })];
    await expect(client.runs.get("run_1")).rejects.toMatchObject({
      name: "InvalidAnswerError",
      status: 307,
    });
    expect(elsewhere.requests).toHaveLength(0);
    await elsewhere.close();
  });

  test("a proxy's page with an error is an ApiError with the status as its code", async () => {
    script = [() => ({ status: 404, body: "<h1>Not found</h1>" })];
    await expect(client.runs.get("run_1")).rejects.toMatchObject({
      name: "ApiError",
      code: "HTTP_404",
      requestId: null,
    });
  });

  test("a code that this version does not know stays readable", async () => {
    script = [refuse(418, "TEAPOT")];
    expect(isApiError(await failureOf(client.runs.get("run_1")), "TEAPOT")).toBe(true);
  });
});

test("a server that is not there is tried again for changes, too, as nothing was sent", async () => {
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  const lonely = createClient({ baseUrl, apiKey: "wfk_test" });
  const creating = lonely.tables.create({ name: "Orders" });
  await expect(creating).rejects.toMatchObject({ name: "ConnectionError", attempts: 3 });
});

describe("whether the service may have taken a request", () => {
  const creating = (maxRetries: number) =>
    failureOf(client.tables.create({ name: "Orders" }, { maxRetries }));

  test("is known where no connection was made", async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const lonely = createClient({ baseUrl, apiKey: "wfk_test" });
    await expect(lonely.runs.get("run_1", { maxRetries: 1 })).rejects.toMatchObject({
      name: "ConnectionError",
      mayHaveBeenReceived: false,
    });
  });

  test("is known where a limit has refused each try", async () => {
    const limited = refuse(429, "RATE_LIMITED", { "retry-after": "0" });
    script = [limited, limited];
    expect(await creating(1)).toMatchObject({ attempts: 2, mayHaveBeenReceived: false });
  });

  test.each([
    ["cut", hangUp],
    ["broken off", half],
    ["a 503", refuse(503, "UNAVAILABLE")],
  ])("is not known after an answer that is %s", async (_, answer) => {
    script = [answer];
    expect(await creating(0)).toMatchObject({ mayHaveBeenReceived: true });
  });

  test("is not known after one that came too late", async () => {
    script = [silence];
    const options = { timeoutMs: 200, maxRetries: 0 };
    expect(await failureOf(client.runs.get("run_1", options))).toMatchObject({
      name: "TimeoutError",
      mayHaveBeenReceived: true,
    });
  });

  test("stays unknown when only the last try is surely not taken", async () => {
    script = [hangUp, refuse(429, "RATE_LIMITED", { "retry-after": "0" })];
    const failure = await failureOf(client.workflows.run(ID, {}, { maxRetries: 1 }));
    expect(failure).toMatchObject({ code: "RATE_LIMITED", mayHaveBeenReceived: true });
  });
});

/** A handler that refuses in the envelope of the API. */
function refuse(status: number, code: string, headers: Record<string, string> = {}): DoubleHandler {
  const error = { code, message: "No.", requestId: "request-1" };
  return () => ({ status, headers, body: { success: false, error } });
}

function good(data: unknown) {
  return { body: { success: true, data } };
}

/** Sends half of a body of unknown length, then cuts the connection. */
function half(_: unknown, response: Parameters<DoubleHandler>[1]): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"success":true,"da', () => response.destroy());
}

function hangUp(_: unknown, response: Parameters<DoubleHandler>[1]): void {
  response.destroy();
}

function silence(): void {}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("It did not fail.");
    },
    (error: unknown) => error,
  );
}
