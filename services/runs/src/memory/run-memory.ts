/** One run's share of its worker's memory. Sizes are bytes of JSON text, as it is stored. */
export interface RunMemory {
  /**
   * Called when others need memory. The run should drop what can be read again, and report it by
   * `shrink`.
   */
  onPressure: (() => void) | null;
  /** Counts bytes that the run has come to hold. */
  grow(bytes: number): void;
  /** Counts bytes that the run no longer holds. */
  shrink(bytes: number): void;
  /**
   * Waits until the worker has so many bytes to spare, and counts them.
   *
   * @param signal ends the wait, as the end of the run's lease does
   * @throws the signal's reason
   */
  reserve(bytes: number, signal?: AbortSignal): Promise<void>;
  /** Says that the run could drop something if others wait. */
  offer(): void;
  /**
   * Counts a step that begins. While one does not wait for memory, no request is admitted beyond the
   * limit.
   */
  stepBegins(): void;
  /** Counts a step that has ended. */
  stepEnds(): void;
  /** Frees all that the run holds. */
  close(): void;
}
