import { Slices, Turns } from "@workflow/service";

const MIB = 1024 * 1024;
/**
 * Bytes of inputs that a worker has under way to others: each is held some three times, by the step, as its
 * text and on its way, for as long as a host likes to take. Four companies whose hosts hang leave none to others.
 */
export const UNDER_WAY = { perTenant: 16 * MIB, total: 64 * MIB } as const;

/** What a worker's steps share when they send. */
export interface Sending {
  /** Bytes of inputs that are under way. */
  readonly turns: Turns;
  /** The event loop: resolving the inputs of a hundred parallel steps takes as long as a hundred of them. */
  readonly slices: Slices;
}

export function createSending(): Sending {
  return { turns: new Turns(UNDER_WAY), slices: new Slices() };
}
