import { createScrubber } from "../src/index.ts";
import type { Scrubber } from "../src/index.ts";

/** What stands in place of a secret. */
export const MASK = "••••";

/** A scrubber of these secrets. */
export function scrubberOf(...secrets: string[]): Scrubber {
  const scrubber = createScrubber(secrets);
  if (scrubber === null) throw new Error("nothing to scrub");
  return scrubber;
}
