/** The connection that a call needs is paused; it has a turn after so many milliseconds. */
export interface PausedCall {
  kind: "paused";
  waitMs: number;
  /** The provider's words, where it was asked. */
  message?: string | undefined;
}

/** What a call came to that had its turn. */
export interface DoneCall<Output> {
  kind: "done";
  output: Output;
}
