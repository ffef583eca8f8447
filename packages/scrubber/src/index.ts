export { createScrubber } from "./scrubber.ts";
export type { Scrubber } from "./scrubber.ts";
