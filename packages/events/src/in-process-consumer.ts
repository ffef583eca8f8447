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
  const members = createMembers();
  const handOver = createHandOver();
  const done = createRecentIds();
  const underWay = new Map<string, Promise<PublishFailure | null>>();

  const handle = async (event: PublishedEvent): Promise<PublishFailure | null> => {
    const member = members.next();
    if (member === undefined) return gone(event, name);
    const release = await member.slots.acquire();
    try {
      if (!members.has(member)) return gone(event, name);
      const failure = await handOver(member.options, event);
      if (failure === null) done.add(event.id);
      return failure;
    } finally {
      release();
    }
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

  return {
    name,
    isPresent: () => !members.isEmpty(),
    async deliver(events) {
      const outcomes = await Promise.all(events.map(handleOnce));
      return outcomes.filter((outcome) => outcome !== null);
    },
    subscribe(options) {
      const member = members.join(options);
      const tending = options.deadLetters?.tend(options, member.stopping.signal);
      const close = async (): Promise<void> => {
        await Promise.all([members.leave(member), tending]);
      };
      if (options.signal?.aborted === true) void close();
      else options.signal?.addEventListener("abort", () => void close(), { once: true });
      return { close };
    },
    close: () => members.leaveAll(),
  };
}

/** The present subscribers of a consumer, which take events in turn. */
function createMembers() {
  const members: Member[] = [];
  let turn = 0;

  const leave = async (member: Member): Promise<void> => {
    member.stopping.abort();
    const index = members.indexOf(member);
    if (index >= 0) members.splice(index, 1);
    await member.slots.whenIdle();
  };

  return {
    isEmpty: () => members.length === 0,
    has: (member: Member) => members.includes(member),
    /** The member whose turn it is; undefined without members. */
    next: () => members[turn++ % Math.max(1, members.length)],
    join(options: SubscribeOptions): Member {
      const slots = new Semaphore(options.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT);
      const member = { options, slots, stopping: new AbortController() };
      members.push(member);
      return member;
    },
    /** Resolves when the member handles nothing any more. */
    leave,
    async leaveAll(): Promise<void> {
      await Promise.all([...members].map(leave));
    },
  };
}

/**
 * Makes the function that hands one event to a subscriber. The function remembers which events have
 * failed, and parses the event each time, so that no subscriber sees the changes of another.
 */
function createHandOver() {
  const failed = createRecentIds();
  return async (
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
