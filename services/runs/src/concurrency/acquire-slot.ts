import { databaseErrorToAppError } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import {
  admitQueued,
  deleteSlots,
  findSlot,
  insertQueued,
  lockSlots,
} from "../store/concurrency-slots.ts";
import type { SlotRequest } from "../store/concurrency-slots.ts";
import { insertWakeUps } from "../store/wake-ups.ts";

/** A run of a workflow with a concurrency limit, before its first step (D15). */
export interface SlotAcquisition extends SlotRequest {
  onLimit: "queue" | "skip";
}

/**
 * `entered`: the run goes on. `queued`: it rests until a wake-up and asks again. `skipped`: it ends. A
 * run that has ended meanwhile is `queued`: its lease is gone, so nothing that it writes counts.
 */
export type AcquireOutcome = "entered" | "queued" | "skipped";

/**
 * Gives a run one of its workflow's slots, or a place in the queue for one. It is called each time before
 * a run begins. A run that has a slot already enters, so a crash at any moment does no harm.
 *
 * @throws AppError UNAVAILABLE while the database is away: the run is to be tried again
 */
export async function acquireSlot(
  database: Database,
  request: SlotAcquisition,
): Promise<AcquireOutcome> {
  try {
    // A run that was woken holds its slot already.
    if ((await findSlot(database, request.runId)) === true) return "entered";
    return await database.transaction((transaction) => takeSlot(transaction, request));
  } catch (error) {
    throw databaseErrorToAppError(error);
  }
}

async function takeSlot(
  transaction: Transaction,
  request: SlotAcquisition,
): Promise<AcquireOutcome> {
  const { runId, workflowId, onLimit } = request;
  await lockSlots(transaction, [workflowId]);
  await insertQueued(transaction, request);
  const admitted = await admitQueued(transaction, [workflowId]);
  const others = admitted.filter((id) => id !== runId);
  if (others.length > 0) await insertWakeUps(transaction, others);
  const held = await findSlot(transaction, runId);
  if (held === true) return "entered";
  if (held === null || onLimit === "queue") return "queued";
  await deleteSlots(transaction, [runId]);
  return "skipped";
}
