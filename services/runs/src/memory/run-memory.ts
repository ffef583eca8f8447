/** What one run takes of its worker's memory. Sizes are bytes of JSON text, as it is stored. */
export interface RunMemory {
  /** Called when others need memory: what can be read again is to be dropped, and told of. */
  onPressure: (() => void) | null;
  /** Counts what the run has come to hold. */
  grow(bytes: number): void;
  /** Counts what it holds no more. */
  shrink(bytes: number): void;
  /**
   * Waits until the worker has so much to spare, and counts it.
   *
   * @param signal ends the waiting, as the end of the run's lease does
   * @throws the reason of the signal
   */
  reserve(bytes: number, signal?: AbortSignal): Promise<void>;
  /** Says that it could drop something, should others wait. */
  offer(): void;
  /** A step begins: as long as it does not wait for memory, others need not go on without. */
  stepBegins(): void;
  /** The step is over. */
  stepEnds(): void;
  /** The run is over here; all that it held is free. */
  close(): void;
}
