import { parseEnvelope } from "./envelope.ts";
import type {
  PublishedEvent,
  PublishFailure,
  SubscribeOptions,
  Subscription,
} from "./event-bus.ts";
import { DEFAULT_MAX_IN_FLIGHT } from "./event-bus.ts";
import type { Slots } from "./slots.ts";
import { createSlots } from "./slots.ts";

/** One durable name of one stream: remembers what it has done, whoever subscribes under it. */
export interface InProcessConsumer {
  name: string;
  /** Whether somebody is subscribed. */
  isPresent(): boolean;
  /** Hands the events to a subscriber, in order; answers those that it did not get done. */
  deliver(events: readonly PublishedEvent[]): Promise<PublishFailure[]>;
  subscribe(options: SubscribeOptions): Subscription;
  close(): Promise<void>;
}

/** The events done last that are remembered, to leave out what is published again. */
const REMEMBERED_MAX = 10_000;

interface Member {
  options: SubscribeOptions;
  slots: Slots;
}

export function createInProcessConsumer(name: string): InProcessConsumer {
  const members: Member[] = [];
  const done = new Set<string>();
  const underWay = new Map<string, Promise<PublishFailure | null>>();
  let turn = 0;

  const remember = (id: string): void => {
    done.add(id);
    if (done.size <= REMEMBERED_MAX) return;
    const [oldest] = done;
    if (oldest !== undefined) done.delete(oldest);
  };

  const handle = async (event: PublishedEvent): Promise<PublishFailure | null> => {
    const member = members[turn++ % Math.max(1, members.length)];
    if (member === undefined) return gone(event, name);
    const free = await member.slots.take();
    try {
      if (!members.includes(member)) return gone(event, name);
      const { types, handler } = member.options;
      if (types === undefined || types.includes(event.type)) {
        // Parsed for each consumer: what one does to it, another does not see.
        const envelope = parseEnvelope(event.body);
        if (envelope === null) return malformed(event);
        await handler(envelope);
      }
      remember(event.id);
      return null;
    } catch (cause) {
      return { id: event.id, kind: "failed", cause };
    } finally {
      free();
    }
  };

  /** An event published again while its handler still runs waits for that one. */
  const handleOnce = async (event: PublishedEvent): Promise<PublishFailure | null> => {
    if (done.has(event.id)) return null;
    const running = underWay.get(event.id) ?? handle(event);
    underWay.set(event.id, running);
    try {
      return await running;
    } finally {
      underWay.delete(event.id);
    }
  };

  const leave = async (member: Member): Promise<void> => {
    const index = members.indexOf(member);
    if (index >= 0) members.splice(index, 1);
    await member.slots.allFree();
  };

  return {
    name,
    isPresent: () => members.length > 0,
    async deliver(events) {
      const outcomes = await Promise.all(events.map(handleOnce));
      return outcomes.filter((outcome) => outcome !== null);
    },
    subscribe(options) {
      const member = { options, slots: createSlots(options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT) };
      members.push(member);
      const close = (): Promise<void> => leave(member);
      if (options.signal?.aborted === true) void close();
      else options.signal?.addEventListener("abort", () => void close(), { once: true });
      return { close };
    },
    async close() {
      await Promise.all([...members].map(leave));
    },
  };
}

function gone({ id }: PublishedEvent, name: string): PublishFailure {
  return { id, kind: "unavailable", cause: new Error(`The consumer ${name} has gone.`) };
}

function malformed({ id }: PublishedEvent): PublishFailure {
  return { id, kind: "refused", cause: new Error("The event is not a valid envelope.") };
}
