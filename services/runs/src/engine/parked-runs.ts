import { RESULT_BYTES } from "../journal/step-outputs.ts";
import type { RunHistory } from "../journal/run-history.ts";
import type { RunMemory } from "../memory/run-memory.ts";
import type { WorkerMemory } from "../memory/worker-memory.ts";
import type { Lease } from "../task-runtime/port.ts";

interface ParkedRun {
  /** The fence of the lease under which the run was parked. */
  fence: number;
  history: RunHistory;
  memory: RunMemory;
}

const RUNS_MAX = 1_000;
const NEVER = new AbortController().signal;

/**
 * The histories of runs that this worker has parked, without outputs that can be read again. If this
 * worker also gets the next lease of a run, nobody has written in between and nothing has to be read.
 * Without this a run with many waits would be read as often. The histories are dropped when memory is
 * needed.
 */
export class ParkedRuns {
  readonly #memory: WorkerMemory;
  /** The runs in the order in which they were parked. */
  readonly #runs = new Map<string, ParkedRun>();

  constructor(memory: WorkerMemory) {
    this.#memory = memory;
  }

  /** Keeps the history of a run whose wait was written under this lease. */
  keep({ runId, fence }: Lease, companyId: string, history: RunHistory): void {
    this.#forget(runId);
    const memory = this.#memory.open(companyId, NEVER);
    this.#runs.set(runId, { fence, history, memory });
    memory.onPressure = () => this.#forget(runId);
    memory.grow(history.results.count * RESULT_BYTES);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > RUNS_MAX && oldest !== undefined) this.#forget(oldest);
  }

  /** Hands out a run's history, if this lease follows the one under which it was parked. */
  take({ runId, fence }: Lease): RunHistory | undefined {
    const parked = this.#runs.get(runId);
    this.#forget(runId);
    return parked?.fence === fence - 1 ? parked.history : undefined;
  }

  #forget(runId: string): void {
    const parked = this.#runs.get(runId);
    if (parked === undefined) return;
    this.#runs.delete(runId);
    parked.memory.close();
  }
}
