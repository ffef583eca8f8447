import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId } from "@workflow/db";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { BulkAction } from "@workflow/proto/runs/v1/runs";
import type { ListRunsRequest } from "@workflow/proto/runs/v1/runs";
import { waitFor } from "@workflow/testkit";
import {
  delay,
  expression,
  listRequest,
  mapping,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;

beforeAll(async () => {
  harness = await startRunsHarness();
});
afterAll(() => harness.close());

const bulk = (
  action: BulkAction,
  which: { runIds?: string[]; filter?: Partial<ListRunsRequest> },
  identity = harness.identity,
) =>
  harness.runs.bulkRuns(
    {
      action,
      runIds: which.runIds ?? [],
      filter: which.filter === undefined ? undefined : listRequest(which.filter),
    },
    { identity, timeoutMs: 60_000 },
  );

async function sleeping(count: number): Promise<{ workflowId: string; runIds: string[] }> {
  const workflowId = await harness.deploy([delay("wait", 600_000)]);
  const runIds = await Promise.all(Array.from({ length: count }, () => harness.start(workflowId)));
  await waitFor(async () => {
    const page = { limit: 100, cursor: "" };
    const request = listRequest({ workflowId, statuses: [RunStatus.SUSPENDED], page });
    const { runs } = await harness.runs.listRuns(request, { identity: harness.identity });
    return runs.length === Math.min(count, 100);
  });
  return { workflowId, runIds };
}

describe("BulkRuns", () => {
  it("cancels each run that can be, and says of the others why not, in the given order", async () => {
    const { runIds } = await sleeping(3);
    const [one = "", two = "", three = ""] = runIds;
    const done = await harness.runToEnd(await harness.deploy([mapping("a", 1)]));
    const unknown = newId("run_");
    const given = [three, done.id, one, unknown, "run_x", two, one];
    const { results } = await bulk(BulkAction.CANCEL, { runIds: given });
    expect(
      results.map(({ runId, newRunId, failure }) => [runId, newRunId, failure?.reason]),
    ).toEqual([
      [three, undefined, undefined],
      [done.id, undefined, "INVALID_STATE"],
      [one, undefined, undefined],
      [unknown, undefined, "NOT_FOUND"],
      ["run_x", undefined, "NOT_FOUND"],
      [two, undefined, undefined],
    ]);
    for (const id of runIds) expect((await harness.get(id)).status).toBe(RunStatus.CANCELLED);
    expect((await harness.get(done.id)).status).toBe(RunStatus.COMPLETED);
  });

  it("retries each run that can be, with the id of the new one", async () => {
    const workflowId = await harness.deploy([expression("a", '$error("")')]);
    const failed = await harness.runToEnd(workflowId);
    const done = await harness.runToEnd(await harness.deploy([mapping("a", 1)]));
    const { results } = await bulk(BulkAction.RETRY, { runIds: [done.id, failed.id] });
    expect(results).toMatchObject([
      { runId: done.id, failure: { reason: "INVALID_STATE" } },
      { runId: failed.id, failure: undefined },
    ]);
    const next = await harness.waitForEnd(results[1]?.newRunId ?? "");
    expect(next.restartedFromRunId).toBe(failed.id);
  });

  it("takes the runs that a list's filter finds, newest first", async () => {
    const { workflowId, runIds } = await sleeping(5);
    await harness.runs.cancelRun({ runId: runIds[0] ?? "" }, { identity: harness.identity });
    const filter = { workflowId, statuses: [RunStatus.SUSPENDED] };
    const { results } = await bulk(BulkAction.CANCEL, { filter });
    const expected = runIds.slice(1).toSorted().toReversed();
    expect(results.map(({ runId }) => runId)).toEqual(expected);
    expect(results.every(({ failure }) => failure === undefined)).toBe(true);
    expect((await bulk(BulkAction.CANCEL, { filter })).results).toEqual([]);
    expect((await bulk(BulkAction.CANCEL, { filter: { workflowId: "no-uuid" } })).results).toEqual(
      [],
    );
  });

  it("cancels 500 in one call", async () => {
    const { workflowId, runIds } = await sleeping(500);
    const { results } = await bulk(BulkAction.CANCEL, { filter: { workflowId } });
    expect(results).toHaveLength(500);
    expect(results.filter(({ failure }) => failure !== undefined)).toEqual([]);
    expect(new Set(results.map(({ runId }) => runId))).toEqual(new Set(runIds));
  });

  it("does nothing to another company's runs", async () => {
    const { workflowId, runIds } = await sleeping(1);
    const stranger = testIdentity();
    const { results } = await bulk(BulkAction.CANCEL, { runIds }, stranger);
    expect(results).toMatchObject([{ failure: { reason: "NOT_FOUND" } }]);
    expect((await bulk(BulkAction.CANCEL, { filter: { workflowId } }, stranger)).results).toEqual(
      [],
    );
    expect((await harness.get(runIds[0] ?? "")).status).toBe(RunStatus.SUSPENDED);
  });

  it("refuses requests of the wrong shape before it does anything", async () => {
    const { runIds } = await sleeping(1);
    const cases: [BulkAction, Parameters<typeof bulk>[1], string][] = [
      [BulkAction.UNSPECIFIED, { runIds }, "action"],
      [BulkAction.UNRECOGNIZED, { runIds }, "action"],
      [BulkAction.CANCEL, {}, "runIds"],
      [BulkAction.CANCEL, { runIds, filter: {} }, "filter"],
      [BulkAction.CANCEL, { runIds: Array.from({ length: 501 }, () => "run_x") }, "runIds"],
      [BulkAction.CANCEL, { filter: { statuses: [RunStatus.UNRECOGNIZED] } }, "status"],
    ];
    for (const [action, which, field] of cases) {
      await expect(bulk(action, which)).rejects.toMatchObject({
        reason: "BAD_REQUEST",
        violations: [{ path: [field] }],
      });
    }
    expect((await harness.get(runIds[0] ?? "")).status).toBe(RunStatus.SUSPENDED);
    const reader = { ...harness.identity, scopes: ["runs:read"] };
    await expect(bulk(BulkAction.CANCEL, { runIds }, reader)).rejects.toMatchObject({
      reason: "FORBIDDEN",
    });
  });
});
