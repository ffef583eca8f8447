/** `FAULT_ROUNDS` makes the fault tests longer, for a night or a release; one round is CI's. */
export const ROUNDS = Number(process.env["FAULT_ROUNDS"] ?? "1");

/** Runs that are started in one round. */
export const RUNS_PER_ROUND = ROUNDS === 1 ? 90 : 400;

/** The time limit of a test, in milliseconds: the faults, and a minute in which all has to end. */
export const LONG = 90_000 + ROUNDS * 30_000;
