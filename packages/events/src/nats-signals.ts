import type { NatsConnection } from "nats";
import type { EventsLogger } from "./logger.ts";
import { createNatsLink } from "./nats-link.ts";
import type { NatsLink } from "./nats-link.ts";

/** Messages between processes that nothing stores: a process that is not connected misses them. */
export interface Signals {
  /**
   * Sends to one address, or to all of the group including the sender. False without a connection: then
   * nothing was sent, nor will it be.
   */
  send(to: string | null, text: string): boolean;
  /** Whether there is a connection. */
  isConnected(): boolean;
  /** Waits for a connection or the signal; false without a connection. */
  connected(signal: AbortSignal): Promise<boolean>;
  /** Sends what is under way and disconnects. */
  close(): Promise<void>;
}

/** The handlers of signals. */
export interface SignalHandlers {
  onMessage(text: string): void;
  /** There is a connection, again or for the first time. Earlier messages were missed. */
  onConnect(): void;
}

export interface NatsSignalsOptions extends SignalHandlers {
  /** The same as for `createNatsEventBus`. */
  servers: string;
  name: string;
  logger: EventsLogger;
  /** The first words of all subjects. Processes of one group receive each other's signals. */
  group: string;
  /** The address of this process in the group: one word of a subject. */
  address: string;
}

/** The last word of the subject for all of a group. It is no address. */
const ALL = "all";

/**
 * Signals over core NATS, on a connection of their own, so that a stream's events do not delay them. It
 * returns at once and connects in the background, for ever.
 */
export function createNatsSignals(options: NatsSignalsOptions): Signals {
  const link = createNatsLink(options);
  const closing = new AbortController();
  const listening = listen(link, options, closing.signal);
  return {
    send(to, text) {
      const session = link.current();
      if (session === null) return false;
      try {
        session.connection.publish(`${options.group}.${to ?? ALL}`, text);
        return true;
      } catch (error) {
        // The connection closes just now, or the server takes no message of this length.
        options.logger.warn({ err: error }, "a signal could not be sent");
        return false;
      }
    },
    isConnected: () => link.current() !== null,
    connected: async (signal) => (await link.session(signal)) !== null,
    async close() {
      closing.abort();
      await link.close();
      await listening;
    },
  };
}

/** Listens in each session. A connection that comes back still has its subscriptions. */
async function listen(
  link: NatsLink,
  options: NatsSignalsOptions,
  closing: AbortSignal,
): Promise<void> {
  let subscribed: NatsConnection | undefined;
  for (;;) {
    const session = await link.session(closing);
    if (session === null) return;
    const { connection, lost } = session;
    if (connection !== subscribed) subscribe(connection, options);
    subscribed = connection;
    options.onConnect();
    await aborted(lost);
  }
}

function subscribe(connection: NatsConnection, options: NatsSignalsOptions): void {
  for (const word of [options.address, ALL]) {
    connection.subscribe(`${options.group}.${word}`, {
      callback(error, message) {
        if (error === null) options.onMessage(message.string());
        // The server may forbid the subscription.
        else
          options.logger.error({ err: error }, "could not listen for signals of other processes");
      },
    });
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise;
}
