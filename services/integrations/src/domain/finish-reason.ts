/** The reasons why an answer ended. */
export const FINISH_REASONS = [
  "stop",
  "length",
  "content-filter",
  "tool-calls",
  "error",
  "other",
] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];
