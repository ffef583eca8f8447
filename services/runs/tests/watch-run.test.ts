import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId } from "@workflow/db";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { WatchRunResponse } from "@workflow/proto/runs/v1/runs";
import type { RpcCallOptions } from "@workflow/rpc";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import {
  approval,
  delay,
  expression,
  forEach,
  httpStep,
  mapping,
  repeat,
  startRunsHarness,
  testIdentity,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let harness: RunsHarness;
let receiver: HttpDouble;
/** Answers the requests that wait under a path. */
const release = new Map<string, () => void>();

beforeAll(async () => {
  harness = await startRunsHarness({ companyWatchersMax: 2_000 });
  receiver = await startHttpDouble((request, response) => {
    release.set(request.path, () => response.end('{"ok":true}'));
  });
});
afterAll(async () => {
  await harness.close();
  await receiver.close();
});

function watch(runId: string, after?: string, options: RpcCallOptions = {}) {
  return harness.runs.watchRun(
    { runId, after },
    { identity: harness.identity, timeoutMs: 60_000, ...options },
  );
}

/** `step a`, `run completed`, `nothing`. */
function textOf({ update }: WatchRunResponse): string {
  if (update === undefined) return "nothing";
  if (update.$case === "step") return `step ${update.value.path}`;
  const name = Object.entries(RunStatus).find(([, value]) => value === update.value.status)?.[0];
  return `run ${name?.toLowerCase()}`;
}

async function watchToEnd(runId: string, after?: string): Promise<WatchRunResponse[]> {
  const updates: WatchRunResponse[] = [];
  for await (const update of watch(runId, after)) updates.push(update);
  return updates;
}

describe("WatchRun", () => {
  it("of a run that has ended tells everything at once and ends", async () => {
    const workflowId = await harness.deploy([mapping("a", 1), mapping("b", { x: 2 })]);
    const run = await harness.runToEnd(workflowId, { word: "hidden" });
    const updates = await watchToEnd(run.id);
    expect(updates.map(textOf)).toEqual(["step a", "step b", "run completed"]);
    expect(updates[1]?.update).toEqual({ $case: "step", value: run.stepResults[1] });
    expect(updates[2]?.update).toEqual({
      $case: "run",
      value: { ...run, inputJson: undefined, stepResults: [] },
    });
  });

  it("tells each change as it happens, steps once each and before the end", async () => {
    const workflowId = await harness.deploy([
      mapping("a", 1),
      httpStep("wait", `${receiver.url}/live`),
      mapping("b", 2),
      delay("pause", 60_000),
      mapping("never", 3),
    ]);
    const runId = await harness.start(workflowId);
    const seen: string[] = [];
    const watching = (async () => {
      for await (const update of watch(runId)) seen.push(textOf(update));
    })();
    await waitFor(() => release.has("/live") && seen.includes("run running"));
    expect(seen).not.toContain("step wait");
    release.get("/live")?.();
    await waitFor(() => seen.includes("run suspended"));
    await harness.runs.cancelRun({ runId }, { identity: harness.identity });
    await watching;
    expect(seen.filter((text) => text !== "run pending")).toEqual([
      "run running",
      "step a",
      "step wait",
      "step b",
      "run suspended",
      "run cancelled",
    ]);
  });

  it("tells of an approval's wait and of a failure's reason", async () => {
    const workflowId = await harness.deploy([approval("ask"), expression("bad", '$error("no")')]);
    const runId = await harness.start(workflowId);
    await harness.waitForRun(workflowId, RunStatus.WAITING_APPROVAL);
    const updates: WatchRunResponse[] = [];
    for await (const update of watch(runId)) {
      updates.push(update);
      if (textOf(update) !== "run waiting_approval") continue;
      const { approvals } = await harness.approvals.listRunApprovals(
        { runId },
        { identity: harness.identity },
      );
      await harness.approvals.decideApproval(
        {
          runId,
          approvalId: approvals[0]?.id ?? "",
          decision: 2,
          comment: undefined,
          dataJson: undefined,
        },
        { identity: harness.identity },
      );
    }
    expect(updates.map(textOf).filter((text) => text !== "run running")).toEqual([
      "run waiting_approval",
      "step ask",
      "step bad",
      "run failed",
    ]);
    const last = updates.at(-1)?.update;
    expect(last?.$case === "run" && last.value.error?.code).toBe("EXPRESSION_FAILED");
  });

  it("goes on after any position without a repeat or a gap, in another process too", async () => {
    const workflowId = await harness.deploy([
      repeat("loop", { count: 5 }, [mapping("x", "{{loop.index}}")]),
      forEach("each", [1, 2, 3], [mapping("y", 1)]),
    ]);
    const run = await harness.runToEnd(workflowId);
    const another = await harness.startAnother("api");
    const elsewhere = harness.connect(another);
    const all = await watchToEnd(run.id);
    expect(all).toHaveLength(11);
    for (const [index, { position }] of all.entries()) {
      const rest: string[] = [];
      const options = { identity: harness.identity };
      for await (const update of elsewhere.watchRun({ runId: run.id, after: position }, options)) {
        rest.push(textOf(update));
      }
      expect(rest).toEqual(all.slice(index + 1).map(textOf));
    }
  });

  it("that goes on and has nothing to tell yet says so at once", async () => {
    const workflowId = await harness.deploy([mapping("a", 1), delay("wait", 60_000)]);
    const runId = await harness.start(workflowId);
    await harness.waitForRun(workflowId, RunStatus.SUSPENDED);
    const first: WatchRunResponse[] = [];
    for await (const update of watch(runId)) {
      first.push(update);
      if (first.length === 2) break;
    }
    expect(first.map(textOf)).toEqual(["step a", "run suspended"]);
    const again: string[] = [];
    for await (const update of watch(runId, first[1]?.position)) {
      again.push(textOf(update));
      if (again.length > 1) continue;
      await harness.runs.cancelRun({ runId }, { identity: harness.identity });
    }
    expect(again).toEqual(["nothing", "run cancelled"]);
  });

  it("tells of results taken over from the run that it repeats", async () => {
    const workflowId = await harness.deploy([mapping("a", 1), expression("b", '$error("x")')]);
    const failed = await harness.runToEnd(workflowId);
    const { run } = await harness.runs.retryRun(
      { runId: failed.id },
      { identity: harness.identity },
    );
    const updates = await watchToEnd(run?.id ?? "");
    const steps = updates.flatMap(({ update }) => (update?.$case === "step" ? [update.value] : []));
    expect(steps.map(({ path, reused }) => [path, reused])).toEqual([
      ["a", true],
      ["b", false],
    ]);
  });

  it("tells a thousand steps that end in any order, each once", async () => {
    const items = Array.from({ length: 500 }, (_, index) => index);
    const workflowId = await harness.deploy([
      forEach("each", items, [mapping("x", 1), delay("y", 10)]),
    ]);
    const runId = await harness.start(workflowId);
    const updates = await watchToEnd(runId);
    const paths = updates.map(textOf).filter((text) => text.startsWith("step"));
    expect(paths).toHaveLength(1_001);
    expect(new Set(paths).size).toBe(1_001);
    expect(textOf(updates.at(-1) ?? { update: undefined, position: "" })).toBe("run completed");
  });

  it("serves a thousand watchers of one process, each with everything", async () => {
    const workflowId = await harness.deploy([
      httpStep("wait", `${receiver.url}/crowd`),
      mapping("a", 1),
    ]);
    const runId = await harness.start(workflowId);
    await waitFor(() => release.has("/crowd"));
    const watchers = Array.from({ length: 1_000 }, () => watchToEnd(runId));
    const begun = harness.runs.watchRun(
      { runId, after: undefined },
      { identity: harness.identity },
    );
    for await (const _first of begun) break;
    release.get("/crowd")?.();
    for (const updates of await Promise.all(watchers)) {
      expect(updates.map(textOf).filter((text) => !/pending|running/.test(text))).toEqual([
        "step wait",
        "step a",
        "run completed",
      ]);
    }
  });

  it("waits for a slow reader without holding what it has not read", async () => {
    const big = "x".repeat(150_000);
    const workflowId = await harness.deploy([repeat("loop", { count: 20 }, [mapping("big", big)])]);
    const run = await harness.runToEnd(workflowId);
    const paths: string[] = [];
    for await (const update of watch(run.id)) {
      // Round trips through the service while the stream stands still.
      if (paths.length % 4 === 0) await harness.get(run.id);
      paths.push(textOf(update));
    }
    expect(paths).toHaveLength(22);
  });

  it("ends when the reader goes away, when time is up, and when the service stops", async () => {
    const workflowId = await harness.deploy([delay("wait", 60_000)]);
    const runId = await harness.start(workflowId);
    for await (const _first of watch(runId)) break;
    const late = (async () => {
      for await (const update of watch(runId, undefined, { timeoutMs: 300 })) textOf(update);
    })();
    await expect(late).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    const another = await harness.startAnother("api");
    const client = harness.connect(another);
    const stopped = (async () => {
      const options = { identity: harness.identity, timeoutMs: 60_000 };
      for await (const update of client.watchRun({ runId, after: undefined }, options)) {
        textOf(update);
        void another.stop();
      }
    })();
    await expect(stopped).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    await harness.runs.cancelRun({ runId }, { identity: harness.identity });
  });

  it("refuses a position that it never gave", async () => {
    const run = await harness.runToEnd(await harness.deploy([mapping("a", 1)]));
    for (const after of [
      "",
      "x",
      "running",
      "running.",
      "none.1.5",
      "gone.3",
      "running.1e9",
      "'",
    ]) {
      await expect(watchToEnd(run.id, after)).rejects.toMatchObject({
        reason: "BAD_REQUEST",
        violations: [{ path: ["after"] }],
      });
    }
  });

  it("knows nothing of another company's run, nor of ids that are none, and needs its scope", async () => {
    const run = await harness.runToEnd(await harness.deploy([mapping("a", 1)]));
    const read = async (runId: string, identity = harness.identity) => {
      for await (const update of watch(runId, undefined, { identity })) textOf(update);
    };
    for (const attempt of [
      () => read(run.id, testIdentity()),
      () => read(newId("run_")),
      () => read("run_x"),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ reason: "NOT_FOUND" });
    }
    const other = { ...harness.identity, scopes: ["workflows:execute"] };
    await expect(read(run.id, other)).rejects.toMatchObject({ reason: "FORBIDDEN" });
  });
});
