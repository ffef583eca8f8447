import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { Run } from "@workflow/proto/runs/v1/run";
import type { RunsServiceService } from "@workflow/proto/runs/v1/runs";
import type { StartRunResponse } from "@workflow/proto/runs/v1/starts";
import type { RpcCallOptions, RpcClient } from "@workflow/rpc";
import { createTurnBatcher } from "./turn-batcher.ts";

/** What a service may be asked for at once; a company has no more waits by default. */
const RUNS_MAX = 1_000;
/** A gateway that stops has ten seconds for all. */
const LOOK_TIMEOUT_MS = 2_000;

/** The results of these are on their way already. */
const ENDED: ReadonlySet<RunStatus> = new Set([
  RunStatus.COMPLETED,
  RunStatus.FAILED,
  RunStatus.CANCELLED,
  RunStatus.TIMEOUT,
]);

type Look = (run: Run, call: RpcCallOptions) => Promise<Run>;

/** Waits for runs that end with the gateway, as soon as it is known which run each is for. */
export class StoppableWaits {
  readonly #stopping: AbortSignal;
  readonly #look: Look;
  readonly #leaves = new Set<() => void>();

  /** @param stopping aborted when the gateway stops */
  constructor(runs: RpcClient<RunsServiceService>, stopping: AbortSignal) {
    this.#stopping = stopping;
    this.#look = createLook(runs);
    stopping.addEventListener("abort", () => {
      for (const leave of this.#leaves) leave();
    });
  }

  /** Resolves with what `begin` gives, or before with the run that it says it is waiting for, as that stands. */
  async wait(
    { identity, requestId }: RpcCallOptions,
    begin: (onWaiting: (run: Run) => void) => Promise<StartRunResponse>,
  ): Promise<StartRunResponse> {
    let known: Run | undefined;
    const left = Promise.withResolvers<StartRunResponse>();
    const leave = (): void => {
      if (known === undefined) return;
      const call = { identity, requestId, timeoutMs: LOOK_TIMEOUT_MS };
      void this.#look(known, call).then((run) => {
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

/** Asks where runs stand, those of one caller together. Never rejects: the id is worth more than the status. */
function createLook(runs: RpcClient<RunsServiceService>): Look {
  const look = createTurnBatcher<Run, Run>({
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
  return (run, call) => look(run, call).catch(() => run);
}
