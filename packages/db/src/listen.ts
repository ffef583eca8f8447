import { setTimeout as delay } from "node:timers/promises";
import { backoffMs, sleep } from "@workflow/async";
import { Client, escapeIdentifier } from "pg";
import { withSession } from "./connection-uri.ts";

export interface ListenOptions {
  connectionUri: string;
  role?: string;
  channels: string[];
  /** Called for each notification, in order. */
  onNotification: (channel: string, payload: string) => void;
  /**
   * Called after each connection, the first included. Earlier notifications were missed, so read
   * the current state now.
   */
  onReconnect: () => void;
  /** Receives connection failures, and errors of the callbacks. */
  onError?: (error: unknown) => void;
  signal?: AbortSignal;
}

export interface Listener {
  /** Closes the connection; no callback is called afterwards. */
  stop(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const BACKOFF = { firstMs: 100, maxMs: 5_000 } as const;
/** A connection that died silently is detected within the sum of these two. */
const PING_INTERVAL_MS = 15_000;
const PING_TIMEOUT_MS = 5_000;

/**
 * Listens to channels on a connection of its own, and reconnects whenever it breaks, until stopped.
 * Resolves once the first connection listens.
 *
 * @throws the signal's reason when it is aborted before that
 */
export async function listen(options: ListenOptions): Promise<Listener> {
  const stopping = new AbortController();
  const signals = [stopping.signal, ...(options.signal === undefined ? [] : [options.signal])];
  const signal = AbortSignal.any(signals);
  const first = Promise.withResolvers<void>();
  const ended = keepListening(options, signal, first.resolve);
  await Promise.race([first.promise, ended]);
  signal.throwIfAborted();
  return {
    stop: async () => {
      stopping.abort();
      await ended;
    },
  };
}

async function keepListening(
  options: ListenOptions,
  signal: AbortSignal,
  onFirst: () => void,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      await listenOnce(options, signal, () => {
        failures = 0;
        onFirst();
      });
    } catch (error) {
      if (!signal.aborted) options.onError?.(error);
    }
    failures += 1;
    await sleep(backoffMs(failures, BACKOFF), signal);
  }
}

/** Ends by throwing, because the connection broke or the signal was aborted. */
async function listenOnce(
  options: ListenOptions,
  signal: AbortSignal,
  onListening: () => void,
): Promise<never> {
  const client = new Client({
    connectionString: withSession(options.connectionUri, {
      applicationName: "listen",
      role: options.role,
    }),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: PING_TIMEOUT_MS,
    keepAlive: true,
  });
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => {});
  client.on("error", broken.reject);
  client.on("end", () => broken.reject(new Error("The connection ended.")));
  const onAbort = (): void => broken.reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    await Promise.race([subscribe(client, options, signal), broken.promise]);
    onListening();
    guarded(options, options.onReconnect);
    for (;;) {
      await Promise.race([pause(signal), broken.promise]);
      await client.query("select 1");
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    await close(client);
  }
}

async function subscribe(
  client: Client,
  options: ListenOptions,
  signal: AbortSignal,
): Promise<void> {
  client.on("notification", ({ channel, payload = "" }) => {
    if (!signal.aborted) guarded(options, () => options.onNotification(channel, payload));
  });
  await client.connect();
  for (const channel of options.channels) {
    await client.query(`listen ${escapeIdentifier(channel)}`);
  }
}

/**
 * Otherwise an error of a callback would surface in the driver's event loop and end the process.
 */
function guarded(options: ListenOptions, callback: () => void): void {
  try {
    callback();
  } catch (error) {
    options.onError?.(error);
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return delay(PING_INTERVAL_MS, undefined, { signal, ref: false });
}

/** A dead connection cannot be closed properly; one second is enough to try. */
async function close(client: Client): Promise<void> {
  const ended = client.end().catch(() => {});
  await Promise.race([ended, delay(1_000, undefined, { ref: false })]);
}
