import { Semaphore } from "@workflow/async";
import { deliver } from "./deliver.ts";
import type {
  PublishedEvent,
  PublishFailure,
  SubscribeOptions,
  Subscription,
} from "./event-bus.ts";
import { DEFAULT_MAX_IN_FLIGHT } from "./event-bus.ts";
import { encodeBody } from "./nats-body.ts";

/** One durable name of one stream. It remembers handled events, whatever its present subscription. */
export interface InProcessConsumer {
  name: string;
  /** Whether there is a subscription. */
  isPresent(): boolean;
  /** Hands the events to a subscriber, in order; returns the failures. */
  deliver(events: readonly PublishedEvent[]): Promise<PublishFailure[]>;
  subscribe(options: SubscribeOptions): Subscription;
  close(): Promise<void>;
}

/** Handled events that are remembered, so that repeats are left out. */
const REMEMBERED_MAX = 10_000;

interface Member {
  options: SubscribeOptions;
  slots: Semaphore;
  stopping: AbortController;
}

export function createInProcessConsumer(name: string): InProcessConsumer {
  const members: Member[] = [];
  const done = createRecentIds();
  const failed = createRecentIds();
  const underWay = new Map<string, Promise<PublishFailure | null>>();
  let turn = 0;

  const handle = async (event: PublishedEvent): Promise<PublishFailure | null> => {
    const member = members[turn++ % Math.max(1, members.length)];
    if (member === undefined) return gone(event, name);
    const release = await member.slots.acquire();
    try {
      if (!members.includes(member)) return gone(event, name);
      const failure = await handOver(member.options, event);
      if (failure === null) done.add(event.id);
      return failure;
    } finally {
      release();
    }
  };

  /** Events are parsed for each consumer, so that none sees another's changes. */
  const handOver = async (
    options: SubscribeOptions,
    { id, type, body }: PublishedEvent,
  ): Promise<PublishFailure | null> => {
    if (options.types !== undefined && !options.types.includes(type)) return null;
    const outcome = await deliver(options, {
      type,
      readText: async () => body,
      encode: async () => (await encodeBody(body)) ?? { bytes: Buffer.from(body), gzipped: false },
      position: id,
      isRepeated: failed.has(id),
    });
    if (outcome.is === "foreign") return refused(id);
    if (outcome.is === "failed") {
      failed.add(id);
      return { id, kind: "failed", cause: outcome.error };
    }
    failed.delete(id);
    return null;
  };

  /** An event that is published again while its handler still runs waits for that one. */
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
    member.stopping.abort();
    const index = members.indexOf(member);
    if (index >= 0) members.splice(index, 1);
    await member.slots.whenIdle();
  };

  return {
    name,
    isPresent: () => members.length > 0,
    async deliver(events) {
      const outcomes = await Promise.all(events.map(handleOnce));
      return outcomes.filter((outcome) => outcome !== null);
    },
    subscribe(options) {
      const slots = new Semaphore(options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT);
      const member = { options, slots, stopping: new AbortController() };
      members.push(member);
      const tending = options.deadLetters?.tend(options, member.stopping.signal);
      const close = async (): Promise<void> => {
        await Promise.all([leave(member), tending]);
      };
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

function refused(id: string): PublishFailure {
  return { id, kind: "refused", cause: new Error("The event is not a valid envelope.") };
}

/** Remembers the last added ids. */
function createRecentIds() {
  const ids = new Set<string>();
  return {
    has: (id: string) => ids.has(id),
    delete: (id: string) => ids.delete(id),
    add(id: string) {
      ids.add(id);
      const [oldest] = ids;
      if (ids.size > REMEMBERED_MAX && oldest !== undefined) ids.delete(oldest);
    },
  };
}
