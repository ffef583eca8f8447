/** The result of a call whose connection is paused. The call's turn comes after so many milliseconds. */
export interface PausedCall {
  kind: "paused";
  waitMs: number;
  /** The provider's message, if the provider was asked. */
  message?: string | undefined;
}

/** The result of a call that was made. */
export interface DoneCall<Output> {
  kind: "done";
  output: Output;
}
