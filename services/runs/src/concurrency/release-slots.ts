import type { Transaction } from "@workflow/db";
import type { EndedRun } from "../domain/ended-run.ts";
import type { EndHook } from "../journal/end-hooks.ts";
import { admitQueued, deleteSlots, lockSlots } from "../store/concurrency-slots.ts";
import { insertWakeUps } from "../store/wake-ups.ts";

/**
 * Takes ended runs out of the slots and queues of their workflows. The next runs in each queue get the
 * slots, and their wake-ups are noted.
 *
 * The lock is taken even for runs without a slot. A run that is being cancelled may be about to get one:
 * then either this finds the slot, or `acquireSlot` finds that the run has ended.
 */
export const releaseSlots: EndHook = {
  concerns: ({ limited }) => limited,
  write: giveUpSlots,
};

/** Takes runs out of slots and queues, whatever their workflows, and hands the slots on. */
export async function giveUpSlots(
  transaction: Transaction,
  limited: readonly Pick<EndedRun, "runId" | "workflowId">[],
): Promise<void> {
  const workflowIds = [...new Set(limited.map((run) => run.workflowId))];
  await lockSlots(transaction, workflowIds);
  await deleteSlots(
    transaction,
    limited.map((run) => run.runId),
  );
  const admitted = await admitQueued(transaction, workflowIds);
  if (admitted.length > 0) await insertWakeUps(transaction, admitted);
}
