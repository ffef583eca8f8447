import { Slices, Turns } from "@workflow/async";

const MIB = 1024 * 1024;
/**
 * Bytes of inputs that a worker may have under way. Each input is held some three times, as value, as
 * text and on the wire, until the host has taken it. Four companies whose hosts hang would leave nothing
 * to the others.
 */
export const UNDER_WAY = { perTenant: 16 * MIB, total: 64 * MIB } as const;

/** What a worker's steps share when they send. */
export interface Sending {
  /** Bounds the bytes of inputs that are under way. */
  readonly turns: Turns;
  /**
   * Shares the event loop: resolving the inputs of a hundred parallel steps takes a hundred times as
   * long.
   */
  readonly slices: Slices;
}

export function createSending(): Sending {
  return { turns: new Turns(UNDER_WAY), slices: new Slices() };
}
