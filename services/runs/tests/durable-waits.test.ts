import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { createTestDatabase, startHttpDouble, waitFor } from "@workflow/testkit";
import {
  approval,
  delay,
  forEach,
  httpStep,
  mapping,
  outputOf,
  parallel,
  repeat,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

let testDatabase: Awaited<ReturnType<typeof createTestDatabase>>;
let receiver: Awaited<ReturnType<typeof startHttpDouble>>;
const visits = new Map<string, number>();

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  receiver = await startHttpDouble((request) => {
    const key = request.path;
    visits.set(key, (visits.get(key) ?? 0) + 1);
    const flaky = key.startsWith("/flaky") && visits.get(key) === 1;
    return flaky ? { status: 503, body: "later" } : { body: { path: key } };
  });
});
afterAll(async () => {
  await receiver.close();
  await testDatabase.close();
});

/** Runs the service on the same database while `work` goes on: each call is a restart. */
async function withService<T>(
  identity: RunsHarness["identity"] | null,
  work: (harness: RunsHarness) => Promise<T>,
): Promise<T> {
  const harness = await startRunsHarness({
    databaseUrl: testDatabase.connectionUri,
    ...(identity === null ? {} : { identity }),
  });
  try {
    return await work(harness);
  } finally {
    await harness.close();
  }
}

const rests = (harness: RunsHarness, runId: string, status: RunStatus) =>
  waitFor(async () => ((await harness.get(runId)).status === status ? true : null), {
    what: `run ${runId} to have status ${status}`,
  });

/** Approvals in a loop beside retried calls and delays of items, all in one parallel step. */
function nestedWaits(): unknown[] {
  return [
    parallel("p", {
      asks: [
        repeat("l", { count: 2 }, [
          mapping("m", "{{loop.index}}"),
          approval("ask", { message: "{{steps.m.output}}" }),
        ]),
        mapping("asked", "{{steps.ask.output.comment}}"),
      ],
      items: [
        forEach(
          "each",
          ["x", "y"],
          [
            httpStep(
              "call",
              `${receiver.url}/flaky/{{loop.item}}`,
              {},
              {
                retry: { maxAttempts: 3, delayMs: 300, backoff: "fixed", jitter: false },
              },
            ),
            delay("d", 200),
            mapping("path", "{{steps.call.output.body.path}}"),
          ],
        ),
      ],
    }),
    mapping("end", {
      branches: "{{steps.p.output.branches}}",
      last: "{{steps.path.output}}",
      ask: "{{steps.ask.output.comment}}",
    }),
  ];
}

/** Approves what the run asks now. */
async function approve(harness: RunsHarness, runId: string, comment: string): Promise<void> {
  const { identity } = harness;
  const { approvals } = await harness.approvals.listRunApprovals({ runId }, { identity });
  const open = approvals.find(({ status }) => status === ApprovalStatus.WAITING);
  const decision = ApprovalStatus.APPROVED;
  const decided = { runId, approvalId: open?.id ?? "", decision, comment, dataJson: undefined };
  await harness.approvals.decideApproval(decided, { identity });
}

describe("a run that waits", () => {
  it("in approvals, delays and retries inside loops inside branches survives restarts", async () => {
    const begun = await withService(null, async (harness) => {
      const runId = await harness.start(await harness.deploy(nestedWaits()));
      await waitFor(() => (visits.size === 2 ? true : null), { what: "both items to be called" });
      return { runId, identity: harness.identity };
    });
    for (const round of ["first", "second"]) {
      await withService(begun.identity, async (harness) => {
        await rests(harness, begun.runId, RunStatus.WAITING_APPROVAL);
        await approve(harness, begun.runId, round);
      });
    }
    const run = await withService(begun.identity, (harness) => harness.waitForEnd(begun.runId));
    expect(run.status).toBe(RunStatus.COMPLETED);
    expect(outputOf(run)).toEqual({
      branches: { asks: "second", items: ["/flaky/x", "/flaky/y"] },
      last: "/flaky/y",
      ask: "second",
    });
    // Each item has one failed and one successful request: no call was made twice.
    expect([...visits.values()]).toEqual([2, 2]);
    const seqs = run.stepResults.map(({ path }) => path);
    expect(new Set(seqs).size).toBe(seqs.length);
    expect(seqs[0]).toBe("p");
    const retried = run.stepResults.find(({ path }) => path === "p.items.each[0].call");
    expect(retried).toMatchObject({ attempt: 2 });
  });

  it("counts a long delay as suspended, and resumes on time after a restart", async () => {
    const begun = await withService(null, async (harness) => {
      const workflowId = await harness.deploy([delay("d", 6_000), mapping("m", "woke")]);
      const runId = await harness.start(workflowId);
      await rests(harness, runId, RunStatus.SUSPENDED);
      return { runId, identity: harness.identity };
    });
    const run = await withService(begun.identity, (harness) => harness.waitForEnd(begun.runId));
    expect(outputOf(run)).toBe("woke");
    expect(run.durationMs).toBeGreaterThanOrEqual(6_000);
  });
});
