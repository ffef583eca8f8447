import type { Transaction } from "@workflow/db";
import type { EndedRun } from "../domain/ended-run.ts";

/**
 * What else becomes true when runs end, whoever ends them: after the runs' own rows were written and in the
 * same transaction. It must not touch rows of `runs.tasks`: their locks are taken before.
 */
export interface EndHook {
  /** Whether it has anything to write for this run; most runs concern nobody. */
  concerns(run: EndedRun): boolean;
  /** Called with runs that concern it, of which there is at least one. */
  write(transaction: Transaction, ended: readonly EndedRun[]): Promise<void>;
}

/** Has the hooks write what becomes true with the end of these runs. */
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
