/** `FAULT_ROUNDS` makes the fault tests longer, for a night or a release; one round is CI's. */
export const ROUNDS = Number(process.env["FAULT_ROUNDS"] ?? "1");

/** Runs that are started in one round. */
export const RUNS_PER_ROUND = ROUNDS === 1 ? 90 : 270;

/** The time limit of a test, in milliseconds: nothing that it waits for may take this long. */
export const LONG = 480_000 + ROUNDS * 90_000;

/** Events of runs that are delivered under faults; `npm run faults` sets `FAULT_EVENTS`. */
export const EVENTS = Number(process.env["FAULT_EVENTS"] ?? "160");
