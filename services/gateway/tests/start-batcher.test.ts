import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { AppError } from "@workflow/errors";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeStarted, RUN_ID, WORKFLOW_ID } from "./support/messages.ts";

const PATH = `/api/v1/workflows/${WORKFLOW_ID}/run`;
const CALLS = 60;

describe("starts that arrive together", () => {
  let test: TestGateway;
  const seen: { input: string; requestId: string | undefined; batch: boolean }[] = [];

  beforeAll(async () => {
    test = await startTestGateway();
    const note = (inputJson: string | undefined, requestId: string | undefined, batch: boolean) => {
      seen.push({ input: inputJson ?? "", requestId, batch });
    };
    test.backends.runs.startRun = async (request, context) => {
      note(request.inputJson, context.requestId, false);
      return makeStarted({ id: RUN_ID });
    };
    test.backends.runs.startRuns = async ({ requests }) => ({
      results: requests.map((request, index) => {
        note(request.inputJson, request.requestId, true);
        if (index % 2 === 0) return { started: makeStarted({ id: RUN_ID }), failure: undefined };
        const failure = {
          reason: "VALIDATION_ERROR",
          message: "The input does not fit.",
          violations: [{ path: ["n"], message: request.inputJson ?? "" }],
          detailsJson: "",
          retryAfterMs: 0,
        };
        return { started: undefined, failure };
      }),
    });
  });
  afterAll(() => test.close());

  it("each get their own answer, as if they had come alone", async () => {
    const answers = await Promise.all(
      Array.from({ length: CALLS }, async (_, n) => {
        const headers = { "x-request-id": `start-${n}` };
        return { n, answer: await call(test, "POST", PATH, { body: { input: { n } }, headers }) };
      }),
    );
    for (const { n, answer } of answers) {
      expect([202, 400]).toContain(answer.status);
      if (answer.status === 202) continue;
      expect(answer.body).toMatchObject({
        error: {
          code: "VALIDATION_ERROR",
          details: [{ path: ["n"], message: JSON.stringify({ n }) }],
          requestId: `start-${n}`,
        },
      });
    }
    expect(seen).toHaveLength(CALLS);
    expect(new Set(seen.map(({ input }) => input)).size).toBe(CALLS);
    for (const { input, requestId } of seen) {
      expect(input).toBe(JSON.stringify({ n: Number(requestId?.slice("start-".length)) }));
    }
  });
});

describe("starts that wait and arrive together", () => {
  let test: TestGateway;
  const waits: number[] = [];

  beforeAll(async () => {
    test = await startTestGateway();
  });
  afterAll(() => test.close());

  /** Answers from the last to the first, and refuses each third run. */
  const answerBackwards = (): void => {
    test.backends.runs.startRun = async ({ inputJson, waitMs }) => {
      waits.push(waitMs);
      return makeStarted({ id: RUN_ID, status: RunStatus.COMPLETED, outputJson: inputJson });
    };
    test.backends.runs.startRunsAndWait = async function* ({ requests }) {
      for (const [index, { inputJson, waitMs }] of [...requests.entries()].toReversed()) {
        waits.push(waitMs);
        const failure = {
          reason: "VALIDATION_ERROR",
          message: "The input does not fit.",
          violations: [{ path: ["n"], message: inputJson ?? "" }],
          detailsJson: "",
          retryAfterMs: 0,
        };
        const run = { id: RUN_ID, status: RunStatus.COMPLETED, outputJson: inputJson };
        const result =
          index % 3 === 0
            ? { started: undefined, failure }
            : { started: makeStarted(run), failure: undefined };
        yield { results: [{ index, result, waiting: undefined }] };
      }
    };
  };

  const startSync = async (n: number) => {
    const body = { mode: "sync", input: { n }, maxExecutionTimeMs: 1_000 + n };
    return { n, answer: await call(test, "POST", PATH, { body }) };
  };

  it("each get their own answer, whatever the order in which the runs end", async () => {
    answerBackwards();
    const answers = await Promise.all(Array.from({ length: CALLS }, (_, n) => startSync(n)));
    for (const { n, answer } of answers) {
      if (answer.status === 200) {
        expect(answer.body).toMatchObject({ data: { output: { n } } });
      } else {
        expect(answer).toMatchObject({
          status: 400,
          body: { error: { details: [{ path: ["n"], message: JSON.stringify({ n }) }] } },
        });
      }
    }
    const expected = Array.from({ length: CALLS }, (_, n) => 1_000 + n);
    expect(waits.toSorted((left, right) => left - right)).toEqual(expected);
  });

  it("fail with a clear error when the service ends the call without telling of them", async () => {
    test.backends.runs.startRun = async () => {
      throw new AppError("UNAVAILABLE", "gone");
    };
    test.backends.runs.startRunsAndWait = async function* () {
      yield { results: [] };
    };
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => startSync(n)));
    for (const { answer } of answers) expect([500, 503]).toContain(answer.status);
  });
});

describe("starts whose shared call breaks off", () => {
  let test: TestGateway;

  beforeAll(async () => {
    test = await startTestGateway();
  });
  afterAll(() => test.close());

  const startSync = (n: number) =>
    call(test, "POST", PATH, { body: { mode: "sync", input: { n }, idempotencyKey: `key ${n}` } });

  it("keep the answers that came before; of the others it is said that they may have been started", async () => {
    const answered: string[] = [];
    const isOver = new Promise<void>((resolve) => {
      test.backends.runs.startRun = async ({ inputJson = "" }) => {
        answered.push(inputJson);
        return makeStarted({ id: RUN_ID, status: RunStatus.COMPLETED, outputJson: inputJson });
      };
      test.backends.runs.startRunsAndWait = async function* ({ requests }) {
        const inputJson = requests[0]?.inputJson ?? "";
        answered.push(inputJson);
        const run = { id: RUN_ID, status: RunStatus.COMPLETED, outputJson: inputJson };
        const result = { started: makeStarted(run), failure: undefined };
        yield { results: [{ index: 0, result, waiting: undefined }] };
        resolve();
        await new Promise(() => {});
      };
    });
    const answers = Promise.all(Array.from({ length: 20 }, (_, n) => startSync(n)));
    await isOver;
    await test.backends.runsServer.close(0);
    let broken = 0;
    for (const [n, { status, body }] of (await answers).entries()) {
      if (status === 200) {
        expect(answered).toContain(JSON.stringify({ n }));
        continue;
      }
      broken += 1;
      expect(status).toBe(503);
      expect(body).toMatchObject({
        error: {
          code: "UNAVAILABLE",
          message: expect.stringContaining("the same idempotency key"),
          details: { mayHaveStarted: true },
        },
      });
    }
    expect(broken).toBeGreaterThan(0);
  });
});

describe("starts that share a call with longer ones", () => {
  let test: TestGateway;

  beforeAll(async () => {
    test = await startTestGateway();
  });
  afterAll(() => test.close());

  it("last no longer than each one's own wait, though others in the call wait for minutes", async () => {
    const never = new Promise<never>(() => {});
    test.backends.runs.startRun = () => never;
    test.backends.runs.startRunsAndWait = async function* () {
      await never;
      yield { results: [] };
    };
    const gone = new AbortController();
    const start = (maxExecutionTimeMs: number, signal?: AbortSignal) =>
      fetch(test.url + PATH, {
        method: "POST",
        headers: { "x-api-key": test.company.apiKey, "content-type": "application/json" },
        body: JSON.stringify({ mode: "sync", maxExecutionTimeMs }),
        ...(signal === undefined ? {} : { signal }),
      });
    const long = Array.from({ length: 6 }, () => start(300_000, gone.signal).catch(() => null));
    expect(await start(1_000)).toMatchObject({ status: 503 });
    expect(test.backends.calls.some(({ method }) => method === "startRunsAndWait")).toBe(true);
    gone.abort();
    await test.backends.runsServer.close(0);
    await Promise.all(long);
  });
});
