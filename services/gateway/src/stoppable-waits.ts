import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import type { StartRunResponse } from "@workflow/proto/runs/v1/starts";
import type { RpcCallOptions, RpcClient } from "@workflow/rpc";
import { createTurnBatcher } from "./turn-batcher.ts";

/** The number of runs in one question to the service. A company has no more waits by default. */
const RUNS_MAX = 1_000;
/** Short, because a stopping gateway has ten seconds for everything. */
const READ_TIMEOUT_MS = 2_000;

/** The statuses of ended runs, whose results are already on their way to the callers. */
const ENDED: ReadonlySet<RunStatus> = new Set([
  RunStatus.COMPLETED,
  RunStatus.FAILED,
  RunStatus.CANCELLED,
  RunStatus.TIMEOUT,
]);

type ReadStatus = (run: Run, call: RpcCallOptions) => Promise<Run>;

/** Waits for runs. When the gateway stops, each wait ends with the current state of its run. */
export class StoppableWaits {
  readonly #stopping: AbortSignal;
  readonly #readStatus: ReadStatus;
  readonly #leaves = new Set<() => void>();

  /** @param stopping aborted when the gateway stops */
  constructor(runs: RpcClient<RunsServiceService>, stopping: AbortSignal) {
    this.#stopping = stopping;
    this.#readStatus = createStatusReader(runs);
    stopping.addEventListener("abort", () => {
      for (const leave of this.#leaves) leave();
    });
  }

  /**
   * Resolves with the result of `begin`. When the gateway stops first, resolves with the run that
   * `begin` reports, in its current state.
   */
  async wait(
    { identity, requestId }: RpcCallOptions,
    begin: (onWaiting: (run: Run) => void) => Promise<StartRunResponse>,
  ): Promise<StartRunResponse> {
    let known: Run | undefined;
    const left = Promise.withResolvers<StartRunResponse>();
    const leave = (): void => {
      if (known === undefined) return;
      const call = { identity, requestId, timeoutMs: READ_TIMEOUT_MS };
      void this.#readStatus(known, call).then((run) => {
        if (!ENDED.has(run.status)) left.resolve({ run, existing: false, timedOut: false });
      });
    };
    this.#leaves.add(leave);
    const answer = begin((run) => {
      known = run;
      if (this.#stopping.aborted) leave();
    });
    try {
      return await Promise.race([answer, left.promise]);
    } finally {
      this.#leaves.delete(leave);
    }
  }
}

/**
 * Reads the current statuses of runs; runs of one caller share a call. The function never rejects,
 * because the id is worth more than the status.
 */
function createStatusReader(runs: RpcClient<RunsServiceService>): ReadStatus {
  const readStatus = createTurnBatcher<Run, Run>({
    itemsMax: RUNS_MAX,
    charsMax: Number.POSITIVE_INFINITY,
    charsOf: () => 0,
    async sendOne(run, call) {
      const answer = await runs.getRunStatuses({ runIds: [run.id] }, call);
      return { ...run, status: answer.runs[0]?.status ?? run.status };
    },
    async *sendMany(items, call) {
      const runIds = items.map(({ request: { id } }) => id);
      const answer = await runs.getRunStatuses({ runIds }, call);
      const statuses = new Map(answer.runs.map(({ runId, status }) => [runId, status]));
      for (const [index, { request: run }] of items.entries()) {
        yield { index, result: { ...run, status: statuses.get(run.id) ?? run.status } };
      }
    },
  });
  return (run, call) => readStatus(run, call).catch(() => run);
}
