/** How a worker's slots are used. */
export interface SlotUse {
  /** How many it has. */
  slots: number;
  /** How many are taken or reserved. */
  taken: number;
  /** Companies that have any. */
  companies: number;
  /** Slots of the company that has most. */
  largest: number;
}

/** Is told what workers of this process do. */
export interface WorkerObserver {
  /** A claim has taken so many tasks; of so many of them the former worker was lost. */
  claimed(tasks: number, takenOver: number): void;
  /** So many tasks were stored under the worker's lease, without a claim. */
  handedOver(tasks: number): void;
  /** Where the slots can be looked at while the worker runs; returns what ends that. */
  watchSlots(look: () => SlotUse): () => void;
}
