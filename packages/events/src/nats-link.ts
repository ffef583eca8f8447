import { backoffMs, sleep } from "@workflow/async";
import type { NatsConnection } from "nats";
import { connect, Events } from "nats";
import type { EventsLogger } from "./logger.ts";
import { readNatsAddress } from "./nats-address.ts";

/** One period of being connected. It ends with the connection, even if that comes back. */
export interface NatsSession {
  connection: NatsConnection;
  /** Aborted when the connection is lost. */
  lost: AbortSignal;
  /** The streams that were found to exist in this session. */
  streams: Set<string>;
}

/** Keeps a connection to NATS, for ever. */
export interface NatsLink {
  /** The present session; null without a connection. */
  current(): NatsSession | null;
  /** Waits for a session; null when the signal is aborted or the link is closed before. */
  session(signal: AbortSignal): Promise<NatsSession | null>;
  /** Sends what is under way and disconnects. */
  close(): Promise<void>;
}

interface LinkOptions {
  servers: string;
  name: string;
  logger: EventsLogger;
}

const CONNECT_TIMEOUT_MS = 5_000;
const DRAIN_TIMEOUT_MS = 5_000;
const RECONNECT = { firstMs: 100, maxMs: 2_000 } as const;
const PING_INTERVAL_MS = 10_000;
/** The log reports a server that stays away once in this time. */
const TELL_AGAIN_MS = 60_000;

export function createNatsLink(options: LinkOptions): NatsLink {
  const closing = new AbortController();
  const sessions = createSessions(options.logger);
  const keeper = keepConnected(options, sessions, closing.signal);
  return {
    current: () => sessions.current(),
    async session(signal) {
      return sessions.current() ?? sessions.next(AbortSignal.any([signal, closing.signal]));
    },
    async close() {
      closing.abort();
      const session = sessions.current();
      if (session !== null) await drain(session.connection);
      // Draining does not close a connection that is lost meanwhile.
      await keeper.disconnect();
    },
  };
}

/** Connects again and again until closing, and begins and ends sessions with the connections. */
function keepConnected(
  options: LinkOptions,
  sessions: Sessions,
  closing: AbortSignal,
): { disconnect(): Promise<void> } {
  const { logger } = options;
  const connecting = connectionOptions(options);
  let connection: NatsConnection | null = null;

  /** Runs for the connection's life. Its iterator has no end and is simply dropped. */
  const followStatus = async (connection: NatsConnection): Promise<void> => {
    for await (const status of connection.status()) {
      if (status.type === Events.Disconnect) {
        sessions.end();
        if (!closing.aborted) logger.warn({}, "the connection to NATS is lost");
      }
      if (status.type === Events.Reconnect) sessions.begin(connection);
    }
  };

  /** The client reconnects by itself. It gives up only when its credentials are refused twice. */
  const stayWith = async (connection: NatsConnection): Promise<void> => {
    sessions.begin(connection);
    void followStatus(connection);
    const error = await connection.closed();
    sessions.end();
    if (!closing.aborted) logger.warn({ err: error }, "the connection to NATS is closed");
  };

  const run = async (): Promise<void> => {
    let toldAt: number | null = null;
    for (let attempt = 1; !closing.aborted; attempt += 1) {
      try {
        connection = await connect(connecting);
        attempt = 0;
        toldAt = null;
        if (closing.aborted) await connection.close();
        else await stayWith(connection);
      } catch (err) {
        if (toldAt === null || performance.now() - toldAt > TELL_AGAIN_MS) {
          toldAt = performance.now();
          logger.warn({ err, attempt }, "NATS cannot be reached; trying again until it can");
        }
      }
      await sleep(backoffMs(attempt, RECONNECT), closing);
    }
  };
  const ended = run();

  return {
    async disconnect() {
      await connection?.close();
      await ended;
    },
  };
}

type Sessions = ReturnType<typeof createSessions>;

/** Holds the present session, and lets callers wait for the next one. */
function createSessions(logger: EventsLogger) {
  let present: { session: NatsSession; lose: () => void } | null = null;
  let next = Promise.withResolvers<NatsSession>();
  return {
    current: () => present?.session ?? null,
    begin(connection: NatsConnection): void {
      const lost = new AbortController();
      const session = { connection, lost: lost.signal, streams: new Set<string>() };
      present = { session, lose: () => lost.abort() };
      next.resolve(session);
      logger.info({ server: connection.getServer() }, "connected to NATS");
    },
    /** Without a present session nothing ends. */
    end(): void {
      if (present === null) return;
      present.lose();
      next = Promise.withResolvers<NatsSession>();
      present = null;
    },
    /** Waits for a session to begin; null when the signal is aborted before. */
    async next(stop: AbortSignal): Promise<NatsSession | null> {
      const { promise: given, resolve } = Promise.withResolvers<null>();
      const giveUp = (): void => resolve(null);
      if (stop.aborted) return null;
      stop.addEventListener("abort", giveUp, { once: true });
      try {
        return await Promise.race([next.promise, given]);
      } finally {
        stop.removeEventListener("abort", giveUp);
      }
    },
  };
}

/** Sends what is buffered. It gives up after a while, since a hanging server would never take it. */
async function drain(connection: NatsConnection): Promise<void> {
  const done = new AbortController();
  const drained = connection
    .drain()
    .catch(() => {})
    .finally(() => done.abort());
  await Promise.race([drained, sleep(DRAIN_TIMEOUT_MS, done.signal)]);
}

function connectionOptions({ servers, name }: LinkOptions) {
  return {
    ...readNatsAddress(servers),
    name,
    // A server that separates services lets each listen only to its own answers.
    inboxPrefix: `_INBOX.${name.replaceAll(/[^\w-]/g, "_")}`,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT.firstMs,
    reconnectJitter: RECONNECT.firstMs,
    pingInterval: PING_INTERVAL_MS,
  };
}
