/**
 * The reasons why a run fails as soon as it is executed. No caller was there to be told when it was
 * started.
 */
export const START_FAULTS = ["RUN_TOO_MANY_CHILDREN"] as const;
export type StartFault = (typeof START_FAULTS)[number];

/** How many runs may descend from one (D60). */
export const DESCENDANTS_MAX = 10_000;

/** The message that a run has as many descendants as it may have. */
export function tooManyDescendants(max: number): string {
  return `At most ${max} runs may descend from one run.`;
}
