import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { AwaitedStart } from "@workflow/proto/runs/v1/starts";
import {
  delay,
  listRequest,
  mapping,
  startRequest,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let quick: string;
let slow: string;

beforeAll(async () => {
  harness = await startRunsHarness();
  quick = await harness.deploy([mapping("echo", "{{input.n}}")], {
    inputSchema: { type: "object", required: ["n"], properties: { n: { type: "number" } } },
  });
  slow = await harness.deploy([delay("rest", 120_000)]);
});
afterAll(() => harness.close());

type Request = ReturnType<typeof startRequest>;

const waiting = (workflowId: string, input: object, waitMs = 20_000): Request => ({
  ...startRequest(workflowId, input),
  waitMs,
});

async function results(requests: readonly Request[]): Promise<AwaitedStart[]> {
  const all: AwaitedStart[] = [];
  const stream = harness.runs.startRunsAndWait(
    { requests: [...requests] },
    { identity: harness.identity },
  );
  for await (const message of stream) all.push(...message.results);
  return all;
}

async function refusalOf(requests: readonly Request[]): Promise<string> {
  try {
    await results(requests);
  } catch (error) {
    if (isAppError(error)) return error.reason;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("starting several runs and waiting for them in one call", () => {
  it("tells of each run what StartRun would have answered, once", async () => {
    const all = await results([
      waiting(quick, { n: 1 }),
      waiting(quick, { n: "one" }),
      waiting(newUuid(), { n: 1 }),
      waiting(quick, { n: 2 }),
    ]);
    const byIndex = all.toSorted((left, right) => left.index - right.index);
    expect(byIndex.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(
      byIndex.map(({ result }) => result?.failure?.reason ?? result?.started?.run?.outputJson),
    ).toEqual(["1", "VALIDATION_ERROR", "NOT_FOUND", "2"]);
    expect(byIndex[0]?.result?.started).toMatchObject({
      existing: false,
      timedOut: false,
      run: { status: RunStatus.COMPLETED, inputJson: '{"n":1}' },
    });
  });

  it("tells of runs that have ended while others go on, and of those when their wait is over", async () => {
    const all = await results([waiting(slow, {}, 1_500), waiting(quick, { n: 5 })]);
    expect(all.map(({ index }) => index)).toEqual([1, 0, 0]);
    const { waiting: run } = all[1] ?? {};
    expect(run).toMatchObject({ workflowId: slow });
    expect(all[2]?.result?.started?.run?.id).toBe(run?.id);
    expect(all[2]?.result?.started).toMatchObject({
      timedOut: true,
      run: { status: RunStatus.SUSPENDED },
    });
  });

  it("tells at once which runs go on when the service stops", async () => {
    const another = await harness.startAnother("api");
    const client = harness.connect(another);
    const { identity } = harness;
    const requests = [waiting(slow, {}, 60_000), waiting(slow, {}, 60_000)];
    const alone = client.startRun(waiting(slow, {}, 60_000), { identity, timeoutMs: 60_000 });
    const told: AwaitedStart[] = [];
    let stopped: Promise<void> | undefined;
    for await (const { results: some } of client.startRunsAndWait({ requests }, { identity })) {
      told.push(...some);
      if (told.every(({ waiting: run }) => run !== undefined)) stopped ??= another.stop();
    }
    await stopped;
    const ended = told.flatMap(({ result }) => result?.started ?? []);
    for (const { run, existing, timedOut } of [...ended, await alone]) {
      expect({ workflowId: run?.workflowId, existing, timedOut }).toEqual({
        workflowId: slow,
        existing: false,
        timedOut: false,
      });
    }
    expect(ended).toHaveLength(2);
  });

  it("leaves the runs alone when the caller leaves", async () => {
    const stream = harness.runs.startRunsAndWait(
      { requests: [waiting(slow, {}, 60_000), waiting(quick, { n: 6 })] },
      { identity: harness.identity },
    );
    for await (const { results: some } of stream) {
      expect(some.map(({ index }) => index)).toEqual([1]);
      break;
    }
    const { runs } = await harness.runs.listRuns(listRequest({ workflowId: slow }), {
      identity: harness.identity,
    });
    const goingOn = [RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SUSPENDED];
    expect(goingOn).toContain(runs[0]?.status);
  });

  it("refuses none, more than a hundred, and one that does not wait", async () => {
    expect(await refusalOf([])).toBe("BAD_REQUEST");
    expect(await refusalOf(Array.from({ length: 101 }, () => waiting(quick, { n: 1 })))).toBe(
      "BAD_REQUEST",
    );
    expect(await refusalOf([waiting(quick, { n: 1 }), startRequest(quick, { n: 1 })])).toBe(
      "BAD_REQUEST",
    );
  });
});
