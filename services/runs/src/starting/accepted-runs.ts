import type { DeploymentCache } from "../deployments/deployment-cache.ts";
import type { NewRun } from "../store/start-runs.ts";
import type { Dispatch, TaskRuntime } from "../task-runtime/runtime.ts";
import type { WorkerPools } from "./worker-pools.ts";

/**
 * Runs that this process has stored and executes itself. Their rows are not loaded and their input is not
 * parsed again. There are never more of them than the worker has slots.
 */
export interface AcceptedRuns {
  /** Dispatches runs, and remembers those that are handed over once they are stored. */
  dispatch(runs: readonly NewRun[]): Dispatch;
  /** The run, if this process has stored it and nobody has taken it before. */
  take(runId: string): NewRun | undefined;
}

/** The options of accepted runs. */
interface AcceptedRunsOptions {
  runtime: TaskRuntime;
  pools: WorkerPools;
  deployments: DeploymentCache;
}

/** @see AcceptedRuns */
export function createAcceptedRuns({
  runtime,
  pools,
  deployments,
}: AcceptedRunsOptions): AcceptedRuns {
  const accepted = new Map<string, NewRun>();
  return {
    dispatch(runs) {
      const dispatch = runtime.dispatch(
        runs.map(({ id, companyId, deploymentId }) => ({
          runId: id,
          companyId,
          pool: pools.of(companyId, deployments.peek(deploymentId)),
        })),
      );
      return {
        ...dispatch,
        committed(stored) {
          for (const run of runs) {
            if (dispatch.handedOver.has(run.id) && stored.has(run.id)) accepted.set(run.id, run);
          }
          dispatch.committed(stored);
        },
      };
    },
    take(runId) {
      const run = accepted.get(runId);
      accepted.delete(runId);
      return run;
    },
  };
}
