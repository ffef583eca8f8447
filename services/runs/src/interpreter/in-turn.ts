import { StepError } from "../domain/step-error.ts";
import type { OpenStep } from "../domain/step-records.ts";
import type { DoneCall, PausedCall } from "./effects/paused-call.ts";
import type { Execution } from "./execution.ts";

/**
 * A step that has waited for this long fails: a provider that is busy for hours needs somebody's
 * attention.
 */
const WAIT_MS_MAX = 60 * 60_000;

/**
 * Calls a provider again whenever its connection was paused and the step's turn has come. These calls are
 * no attempts of the step. A short wait stays in memory, a long one parks the run; the step's timeout
 * goes on.
 *
 * @param call gets whether the turn that an earlier answer gave has come
 * @throws StepError CONNECTION_PAUSED after an hour, Parked when the wait is long
 */
export async function callInTurn<Output>(
  { clock, fibers, journal, signal }: Execution,
  open: OpenStep,
  call: (hasTurn: boolean) => Promise<DoneCall<Output> | PausedCall>,
): Promise<Output> {
  for (;;) {
    const outcome = await call(turnHasCome(open, clock));
    if (outcome.kind === "done") return outcome.output;
    const dueAt = new Date(clock.now() + outcome.waitMs);
    if (dueAt.getTime() - waitsSince(open) > WAIT_MS_MAX) throw waitedTooLong(outcome);
    journal.persistWait(open, { dueAt, hasTurn: true });
    await fibers.wait({ kind: "retry", dueAt }, signal);
  }
}

/**
 * Only a wait for a turn counts. A step that waited for another reason comes behind those that have a
 * turn.
 */
function turnHasCome({ dueAt, hasTurn }: OpenStep, clock: Execution["clock"]): boolean {
  return hasTurn && dueAt !== null && dueAt.getTime() <= clock.now();
}

/** The beginning of the attempt, as far as it is stored: not before that of the attempt before. */
function waitsSince({ startedAt, previousAttempts }: OpenStep): number {
  const last = previousAttempts.at(-1);
  return last === undefined ? startedAt.getTime() : Date.parse(last.startedAt);
}

function waitedTooLong({ waitMs, message }: PausedCall): StepError {
  const words = message === undefined ? "" : ` The provider says: ${message}`;
  return new StepError(
    "CONNECTION_PAUSED",
    `The provider is called too often with this connection, and it would be more than an hour until the step's turn.${words}`,
    { retryAfterMs: waitMs },
  );
}
