import type { Transaction } from "@workflow/db";
import type { EndedRun } from "../domain/ended-run.ts";

/**
 * A further write at the end of runs, whoever ends them. It follows the writes of the runs' own rows, in
 * the same transaction. It must not touch rows of `runs.tasks`, whose locks are taken before.
 */
export interface EndHook {
  /** Whether the hook has anything to write for this run. For most runs it has not. */
  concerns(run: EndedRun): boolean;
  /** Called with the runs that concern the hook, at least one. */
  write(transaction: Transaction, ended: readonly EndedRun[]): Promise<void>;
}

/** Calls the hooks for these runs. */
export async function runEndHooks(
  transaction: Transaction,
  hooks: readonly EndHook[],
  ended: readonly EndedRun[],
): Promise<void> {
  for (const hook of hooks) {
    const concerned = ended.filter((run) => hook.concerns(run));
    if (concerned.length > 0) await hook.write(transaction, concerned);
  }
}
