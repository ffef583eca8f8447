import type { EventBus, PublishedEvent } from "../../src/index.ts";

export interface RecordingBus extends EventBus {
  /** Everything that was given to `publish` and accepted, in order. */
  published: PublishedEvent[];
}

/**
 * A bus that only remembers, for the relay's side of the contract.
 *
 * @param beforeAccept may throw, to refuse, or do something while the publication is under way
 */
export function createRecordingBus(
  beforeAccept: (events: readonly PublishedEvent[]) => Promise<void> = async () => {},
): RecordingBus {
  const published: PublishedEvent[] = [];
  return {
    published,
    async publish(events) {
      await beforeAccept(events);
      published.push(...events);
    },
    async subscribe() {
      throw new Error("This bus has no consumers.");
    },
    async close() {},
  };
}
