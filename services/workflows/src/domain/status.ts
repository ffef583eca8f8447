import { AppError } from "@workflow/errors";

/** Every change of status that exists: from the key to each of the values. */
const ALLOWED_TRANSITIONS = {
  draft: ["active", "archived"],
  active: ["paused", "archived"],
  paused: ["active", "archived"],
  archived: [],
} as const satisfies Record<string, readonly string[]>;

/** Where a workflow stands in its life. */
export type Status = keyof typeof ALLOWED_TRANSITIONS;

/** All statuses, in the order of a workflow's life. */
export const STATUSES = [
  "draft",
  "active",
  "paused",
  "archived",
] as const satisfies readonly Status[];

/** The statuses from which a workflow may become `target`. */
export function statusesBefore(target: Status): Status[] {
  return STATUSES.filter((status) => canBecome(status, target));
}

/** Whether the table of transitions leads from one status to the other. */
export function canBecome(from: Status, target: Status): boolean {
  const targets: readonly Status[] = ALLOWED_TRANSITIONS[from];
  return targets.includes(target);
}

/** @throws AppError BAD_REQUEST for an archived workflow: nothing of it changes any more (D21) */
export function requireChangeable({ status }: { status: Status }): void {
  if (status !== "archived") return;
  throw new AppError("BAD_REQUEST", "An archived workflow cannot be changed.", {
    details: { currentStatus: status },
  });
}

/** The BAD_REQUEST for a change of status that does not exist (D22). */
export function transitionRefused(currentStatus: Status, targetStatus: Status): AppError {
  const message =
    currentStatus === targetStatus
      ? `The workflow is already ${currentStatus}.`
      : `A workflow that is ${currentStatus} cannot become ${targetStatus}.`;
  return new AppError("BAD_REQUEST", message, {
    details: {
      currentStatus,
      targetStatus,
      allowedTransitions: ALLOWED_TRANSITIONS[currentStatus],
    },
  });
}
