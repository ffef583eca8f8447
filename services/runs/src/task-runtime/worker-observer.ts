/** The use of a worker's slots. */
export interface SlotUse {
  /** How many slots the worker has. */
  slots: number;
  /** How many are taken or reserved. */
  taken: number;
  /** Companies that have at least one. */
  companies: number;
  /** Slots of the company that has most. */
  largest: number;
}

/** Notified of what workers of this process do. */
export interface WorkerObserver {
  /** A claim has taken `tasks` tasks; the former workers of `takenOver` of them were lost. */
  claimed(tasks: number, takenOver: number): void;
  /** Tasks were stored under the worker's lease, without a claim. */
  handedOver(tasks: number): void;
  /**
   * Registers a function that returns the use of the slots while the worker runs; returns what ends that.
   */
  watchSlots(look: () => SlotUse): () => void;
}
