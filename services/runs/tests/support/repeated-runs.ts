import { afterAll, beforeAll } from "@jest/globals";
import { ApprovalStatus } from "@workflow/proto/runs/v1/approvals";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { RestartedRun } from "@workflow/proto/runs/v1/runs";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { approvalsOf } from "./asked-approvals.ts";
import { httpStep, startRunsHarness } from "./runs-harness.ts";
import type { RunsHarness } from "./runs-harness.ts";

/** The paths of the results that a run took over from another run. */
export const reusedIn = (run: Run): string[] =>
  run.stepResults.filter(({ reused }) => reused).map(({ path }) => path);

/** Approves everything until the run ends; returns the run and the paths that asked, in order. */
async function approveAll(
  harness: RunsHarness,
  runId: string,
): Promise<{ run: Run; asked: string[] }> {
  const { identity } = harness;
  const run = await waitFor(
    async () => {
      const waiting = (await approvalsOf(harness, runId)).filter(
        ({ status }) => status === ApprovalStatus.WAITING,
      );
      for (const { id: approvalId } of waiting) {
        const decision = ApprovalStatus.APPROVED;
        await harness.approvals.decideApproval({ runId, approvalId, decision }, { identity });
      }
      const current = await harness.get(runId);
      return current.completedAt === undefined ? null : current;
    },
    { timeoutMs: 60_000, what: "the run to end" },
  );
  return { run, asked: (await approvalsOf(harness, runId)).map(({ path }) => path) };
}

/** One service and one receiver for the cases of a file, which approve, retry and restart runs. */
export function useRepeats() {
  let harness: RunsHarness;
  let receiver: HttpDouble;
  const broken = new Set<string>();
  beforeAll(async () => {
    harness = await startRunsHarness();
    receiver = await startHttpDouble((request, response) => {
      response.writeHead(broken.has(request.path) ? 500 : 200);
      response.end("{}");
    });
  });
  afterAll(async () => {
    await harness.close();
    await receiver.close();
  });

  const options = () => ({ identity: harness.identity });
  const goOn = async (restarted: Promise<RestartedRun>) =>
    approveAll(harness, (await restarted).run?.id ?? "");
  return {
    get harness() {
      return harness;
    },
    /** Paths to which the receiver answers 500. */
    broken,
    /** A step that calls the receiver at the path of its id. */
    call: (id: string) => httpStep(id, `${receiver.url}/${id}`),
    /** How often the receiver was called at this path. */
    callsOf: (id: string) => receiver.requests.filter(({ path }) => path === `/${id}`).length,
    /** Starts a run and approves everything until it ends. */
    firstRun: async (steps: unknown[], input: unknown = {}) =>
      approveAll(harness, await harness.start(await harness.deploy(steps), input)),
    /** Retries a run and approves everything until the new run ends. */
    retry: (runId: string) => goOn(harness.runs.retryRun({ runId }, options())),
    /** Restarts a run, with the same input where none is given, and approves everything. */
    restart: (runId: string, fromStepId: string, override?: unknown) => {
      const overrideInputJson = override === undefined ? undefined : JSON.stringify(override);
      return goOn(harness.runs.restartRun({ runId, fromStepId, overrideInputJson }, options()));
    },
    approvalsOf: (runId: string) => approvalsOf(harness, runId),
  };
}
