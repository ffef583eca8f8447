import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { ConnectionError, createClient, TimeoutError } from "@workflow/client";
import type { ApiOptions, WorkflowClient } from "@workflow/client";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";

const DAY_MS = 86_400_000;
const MONTH_MS = 30 * DAY_MS;
/** Far more than the millisecond that a platform makes of what its timers cannot keep. */
const PAUSE_MS = 100;
const RUN = { id: "run_1", status: "completed" };

let answer: DoubleHandler;
let double: HttpDouble;

beforeEach(async () => {
  double = await startHttpDouble(async (request, response) => {
    if (request.path.endsWith("/events")) return events(response);
    await pause();
    return answer(request, response);
  });
  answer = () => ({ body: { success: true, data: RUN } });
});

afterEach(() => double.close());

describe.each([
  ["a month, which is longer than a timer can be", MONTH_MS],
  ["for ever", Infinity],
])("%s", (_, ms) => {
  test("is the time that a try may take", async () => {
    await expect(clientOf({ timeoutMs: ms }).runs.get("run_1")).resolves.toEqual(RUN);
    expect(double.requests).toHaveLength(1);
  });

  test("is the time to wait for a run", async () => {
    await expect(clientOf().runs.wait("run_1", { waitMs: ms })).resolves.toEqual(RUN);
  });

  test("is the time that a stream may be silent", async () => {
    for await (const { data } of clientOf().runs.events("run_1", { idleTimeoutMs: ms })) {
      expect(data).toEqual(RUN);
    }
    expect(double.requests).toHaveLength(1);
  });
});

test("a month of Retry-After is waited for, where the caller wants that", async () => {
  answer = () => ({ status: 503, headers: { "retry-after": String(MONTH_MS / 1_000) } });
  const controller = new AbortController();
  const reading = clientOf({ maxRetryDelayMs: Infinity }).runs.get("run_1", {
    signal: controller.signal,
  });
  const ended = expect(reading).rejects.toThrow("Enough.");
  await waitFor(() => double.requests.length > 0);
  // A second try would come within this time.
  for (let count = 0; count < 3; count += 1) await pause();
  controller.abort(new Error("Enough."));
  await ended;
  expect(double.requests).toHaveLength(1);
});

test("a Retry-After of more digits than a number has is not waited for", async () => {
  answer = () => ({ status: 503, headers: { "retry-after": "9".repeat(400) } });
  const reading = clientOf({ maxRetryDelayMs: Infinity }).runs.get("run_1");
  await expect(reading).rejects.toMatchObject({ status: 503, attempts: 1 });
});

describe.each([Number.NaN, -1, -Infinity])("%d", (wrong) => {
  test.each(["timeoutMs", "maxRetries", "maxRetryDelayMs"] as const)(
    "is no %s of a client",
    (name) => {
      expect(() => clientOf({ [name]: wrong })).toThrow(TypeError);
    },
  );

  test.each([
    ["timeoutMs", () => clientOf().runs.get("run_1", { timeoutMs: wrong })],
    ["maxRetries", () => clientOf().runs.get("run_1", { maxRetries: wrong })],
    ["waitMs", () => clientOf().runs.wait("run_1", { waitMs: wrong })],
    ["waitMs", () => clientOf().workflows.runAndWait("w", {}, { waitMs: wrong })],
    ["idleTimeoutMs", () => clientOf().runs.events("run_1", { idleTimeoutMs: wrong }).next()],
    ["maxRetries", () => clientOf().runs.events("run_1", { maxRetries: wrong }).next()],
  ])("is no %s of a call, and nothing is sent", async (name, call) => {
    await expect(call()).rejects.toThrow(`${name} must be a number from 0 on`);
    expect(double.requests).toHaveLength(0);
  });
});

describe("by a clock that the test sets", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test("a stream that asks for no pause is not connected to without one", async () => {
    let connections = 0;
    const fetch = (): Promise<Response> => {
      connections += 1;
      const headers = { "content-type": "text/event-stream" };
      return Promise.resolve(new Response("retry: 0\n\n", { headers }));
    };
    const reading = clientOf({ fetch }).runs.events("run_1", { maxRetries: 1 }).next();
    const ended = expect(reading).rejects.toBeInstanceOf(ConnectionError);
    await jest.advanceTimersByTimeAsync(99);
    expect(connections).toBe(1);
    await jest.advanceTimersByTimeAsync(51);
    expect(connections).toBe(2);
    await ended;
  });

  test("a try without an answer ends after the month that it has, and not before", async () => {
    let isOver = false;
    const patient = clientOf({ timeoutMs: MONTH_MS, maxRetries: 0, fetch: neverAnswers });
    const reading = patient.runs.get("run_1").finally(() => {
      isOver = true;
    });
    const ended = expect(reading).rejects.toBeInstanceOf(TimeoutError);
    await jest.advanceTimersByTimeAsync(MONTH_MS - 1);
    expect(isOver).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    await ended;
  });
});

function clientOf(options: Partial<ApiOptions> = {}): WorkflowClient {
  return createClient({ baseUrl: double.url, apiKey: "wfk_test", ...options });
}

function neverAnswers(_: URL, { signal }: RequestInit): Promise<Response> {
  return new Promise((__, reject) => {
    signal?.addEventListener("abort", () => reject(new Error("Aborted.")));
  });
}

async function events(response: Parameters<DoubleHandler>[1]): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write("retry: 1\n\n");
  await pause();
  response.end(`event: run\nid: p1\ndata: ${JSON.stringify(RUN)}\n\n`);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
