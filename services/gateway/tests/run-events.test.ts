import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { AppError } from "@workflow/errors";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { StepStatus } from "@workflow/proto/runs/v1/steps";
import type { WatchRunRequest, WatchRunResponse } from "@workflow/proto/runs/v1/runs";
import type { RpcContext } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { sql } from "@workflow/db";
import { z } from "zod";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeRun, RUN_ID } from "./support/messages.ts";

const PATH = `/api/v1/runs/${RUN_ID}/events`;

const runUpdate = (status: RunStatus, position: string, outputJson?: string): WatchRunResponse => ({
  update: {
    $case: "run",
    value: makeRun({ status, ...(outputJson === undefined ? {} : { outputJson }) }),
  },
  position,
});
const stepUpdate = (path: string, position: string, outputJson: string): WatchRunResponse => ({
  update: {
    $case: "step",
    value: {
      stepId: path,
      path,
      type: "transform",
      status: StepStatus.SUCCESS,
      startedAt: new Date(1_000),
      completedAt: new Date(2_000),
      inputJson: undefined,
      outputJson,
      error: undefined,
      attempt: 1,
      previousAttempts: [],
      reused: false,
      truncated: false,
      inputBytes: undefined,
      outputBytes: undefined,
    },
  },
  position,
});

let test: TestGateway;
let requests: WatchRunRequest[];
/** Signals of the calls that the double has served. */
let signals: AbortSignal[];

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.close());
beforeEach(() => {
  requests = [];
  signals = [];
});

/** Lets the double tell some updates, and then wait for the call to end when it is to stay open. */
function tell(updates: readonly WatchRunResponse[], staysOpen = false): void {
  test.backends.runs.watchRun = async function* (request: WatchRunRequest, context: RpcContext) {
    requests.push(request);
    signals.push(context.signal);
    yield* updates;
    if (!staysOpen) return;
    await new Promise((resolve) => {
      if (context.signal.aborted) resolve(undefined);
      context.signal.addEventListener("abort", resolve);
    });
  };
}

function open(
  headers: Record<string, string> = {},
  signal?: AbortSignal,
  key = test.company.apiKey,
) {
  return fetch(test.url + PATH, {
    headers: { "x-api-key": key, ...headers },
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Reads until a text has come. */
async function readUntil(response: Response, text: string): Promise<ReadableStreamDefaultReader> {
  const reader = (response.body ?? new ReadableStream()).getReader();
  const decoder = new TextDecoder();
  let read = "";
  while (!read.includes(text)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The stream ended after ${read}`);
    read += decoder.decode(value, { stream: true });
  }
  return reader;
}

describe("GET /runs/{id}/events", () => {
  it("answers with one event an update, in REST shapes, and ends after the last", async () => {
    tell([
      runUpdate(RunStatus.RUNNING, "p1"),
      stepUpdate("a", "p2", '{\n  "x": "line\\nbreak",\r\n  "y": 1\n}'),
      runUpdate(RunStatus.COMPLETED, "p3", '{"done":true}'),
    ]);
    const response = await open();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      link: expect.stringContaining('rel="api-catalog"'),
      "x-request-id": expect.any(String),
    });
    const text = await response.text();
    const [hint, ...events] = text.split("\n\n").filter(Boolean);
    expect(hint).toMatch(/^retry: \d+$/);
    const parsed = events.map((event) => {
      const fields = event.split("\n").map((line) => /^(\w+): (.*)$/s.exec(line)?.slice(1) ?? []);
      const all = (name: string) =>
        fields
          .filter(([field]) => field === name)
          .map(([, value]) => value)
          .join("\n");
      return { event: all("event"), id: all("id"), data: JSON.parse(all("data")) as unknown };
    });
    expect(parsed).toMatchObject([
      { event: "run", id: "p1", data: { id: RUN_ID, status: "running", completedAt: null } },
      {
        event: "step",
        id: "p2",
        data: {
          stepId: "a",
          status: "success",
          durationMs: 1_000,
          output: { x: "line\nbreak", y: 1 },
        },
      },
      { event: "run", id: "p3", data: { status: "completed", output: { done: true } } },
    ]);
    expect(parsed[0]?.data).not.toHaveProperty("output");
    expect(parsed[2]?.data).not.toHaveProperty("stepResults");
  });

  it("goes on after Last-Event-ID, which wins over the query", async () => {
    tell([runUpdate(RunStatus.COMPLETED, "p")]);
    await (await open()).text();
    await (await open({ "last-event-id": "running.3" })).text();
    await (await open({ "last-event-id": "" })).text();
    await call(test, "HEAD", `${PATH}?after=pending.1`);
    expect(requests.map(({ after }) => after)).toEqual([
      undefined,
      "running.3",
      undefined,
      "pending.1",
    ]);
  });

  it("begins at once when there is nothing to tell yet", async () => {
    tell([{ update: undefined, position: "p" }], true);
    const leaving = new AbortController();
    const response = await open({ "last-event-id": "p" }, leaving.signal);
    await readUntil(response, "retry:");
    expect(response.status).toBe(200);
    leaving.abort();
    await waitFor(() => signals[0]?.aborted === true);
  });

  it("answers 204 when everything was told before, so that clients stay away", async () => {
    tell([]);
    const response = await open({ "last-event-id": "completed.3" });
    expect(response.status).toBe(204);
    expect(response.headers.get("link")).not.toBeNull();
    expect(await response.text()).toBe("");
  });

  it.each([
    ["NOT_FOUND", 404],
    ["BAD_REQUEST", 400],
    ["UNAVAILABLE", 503],
  ] as const)("answers %s before the first event in the envelope", async (reason, status) => {
    test.backends.runs.watchRun = async function* () {
      yield* [];
      throw new AppError(reason, "Not now");
    };
    const answer = await call(test, "GET", PATH);
    expect(answer).toMatchObject({
      status,
      body: { success: false, error: { code: reason, message: "Not now" } },
    });
  });

  it("ends the stream when the service breaks off, after what it has told", async () => {
    test.backends.runs.watchRun = async function* () {
      yield runUpdate(RunStatus.RUNNING, "p1");
      throw new AppError("UNAVAILABLE", "The service is shutting down.");
    };
    const text = await (await open()).text();
    expect(text).toContain("id: p1");
    expect(text.endsWith("\n\n")).toBe(true);
  });

  it("ends the call of the service when the client goes away", async () => {
    tell([runUpdate(RunStatus.RUNNING, "p1")], true);
    const leaving = new AbortController();
    await readUntil(await open({}, leaving.signal), "p1");
    expect(signals[0]?.aborted).toBe(false);
    leaving.abort();
    await waitFor(() => signals[0]?.aborted === true);
  });

  it("answers HEAD without events and without keeping the call", async () => {
    tell([runUpdate(RunStatus.RUNNING, "p1")], true);
    const answer = await call(test, "HEAD", PATH);
    expect(answer).toMatchObject({ status: 200, text: "" });
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    await waitFor(() => signals[0]?.aborted === true);
  });

  it("ends when the key is revoked", async () => {
    tell([runUpdate(RunStatus.RUNNING, "p1")], true);
    const other = await startTestGateway();
    other.backends.runs.watchRun = test.backends.runs.watchRun;
    const response = await fetch(other.url + PATH, {
      headers: { "x-api-key": other.company.apiKey },
    });
    const reader = await readUntil(response, "p1");
    await other.database.query(sql.type(z.object({}))`
      update gateway.api_keys set revoked_at = now()
    `);
    const rest = await reader.read();
    expect(rest.done).toBe(true);
    await waitFor(() => signals[0]?.aborted === true);
    await other.close();
  });

  it("ends when the gateway stops, and does not hold that up", async () => {
    tell([runUpdate(RunStatus.RUNNING, "p1")], true);
    const other = await startTestGateway();
    other.backends.runs.watchRun = test.backends.runs.watchRun;
    const response = await fetch(other.url + PATH, {
      headers: { "x-api-key": other.company.apiKey },
    });
    const reader = await readUntil(response, "p1");
    const closed = other.close();
    expect((await reader.read()).done).toBe(true);
    await closed;
  });

  it("takes events only as fast as the client reads", async () => {
    const big = JSON.stringify("x".repeat(256 * 1024));
    let told = 0;
    test.backends.runs.watchRun = async function* () {
      for (; told < 400; told++) yield stepUpdate("a", `p${told}`, big);
    };
    const response = await open();
    const reader = await readUntil(response, "p0");
    let last = -1;
    let same = 0;
    await waitFor(() => {
      same = told === last ? same + 1 : 0;
      last = told;
      return same >= 10;
    });
    expect(told).toBeLessThan(200);
    while (!(await reader.read()).done);
    expect(told).toBe(400);
  });
});
