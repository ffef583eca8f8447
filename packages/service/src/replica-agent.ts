import { Agent } from "node:http";
import type { AgentOptions } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import type { ConnectionOptions } from "node:tls";

/** The address of one of several replicas. */
export interface ReplicaAddress {
  host: string;
  port: number;
}

export interface ReplicaAgentOptions extends AgentOptions {
  /** The replicas in the order in which they are tried; called for each connection. */
  order: () => readonly ReplicaAddress[];
  /** The time in which a replica must accept a connection, in milliseconds (default 2,000). */
  connectTimeoutMs?: number;
  /** Returns the TLS options, for each connection; without it connections are plain text. */
  tls?: (() => ConnectionOptions) | undefined;
}

/** None of the replicas accepted a connection, so nothing of the request was sent. */
export class NoReplicaError extends Error {
  override readonly name = "NoReplicaError";
}

type OnSocket = (error: Error | null, socket: Duplex) => void;

const CONNECT_TIMEOUT_MS = 2_000;
/** Longer than a stopping server still accepts connections. */
const AVOID_MS = 5_000;

/**
 * An agent of node:http that connects to the first of several replicas that accepts the connection. A
 * request is sent only over an open connection. So a request without one was not sent and goes to the
 * next replica, and a sent request is never sent twice.
 */
export class ReplicaAgent extends Agent {
  readonly #order: () => readonly ReplicaAddress[];
  readonly #connectTimeoutMs: number;
  readonly #addresses = new WeakMap<Duplex, ReplicaAddress>();
  /** Replicas to try last, each with the end of that time by `performance.now()`. */
  readonly #avoided = new Map<string, number>();
  readonly #tls: ReplicaAgentOptions["tls"];

  constructor(given: ReplicaAgentOptions) {
    const { order, connectTimeoutMs = CONNECT_TIMEOUT_MS, tls, ...options } = given;
    super(options);
    this.#order = order;
    this.#tls = tls;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** Tries the replica of this connection last for some seconds, because it has announced that it closes. */
  avoid(socket: Duplex): void {
    const address = this.#addresses.get(socket);
    if (address !== undefined) this.#avoided.set(nameOf(address), performance.now() + AVOID_MS);
  }

  override createConnection(_options: object, callback: OnSocket = ignore): undefined {
    void this.#hand(callback);
  }

  async #hand(callback: OnSocket): Promise<void> {
    let socket: Socket;
    try {
      socket = await this.#connect();
    } catch (error) {
      // Node's type asks for a socket with an error as well.
      Reflect.apply(callback, undefined, [error]);
      return;
    }
    callback(null, socket);
  }

  async #connect(): Promise<Socket> {
    let cause: unknown;
    const now = performance.now();
    const isAvoided = (address: ReplicaAddress): boolean =>
      (this.#avoided.get(nameOf(address)) ?? now) > now;
    const order = this.#order();
    const willing = order.filter((address) => !isAvoided(address));
    for (const address of [...willing, ...order.filter(isAvoided)]) {
      try {
        const socket = await connected(address, this.#tls?.(), this.#connectTimeoutMs);
        this.#addresses.set(socket, address);
        return socket;
      } catch (error) {
        cause = error;
      }
    }
    throw new NoReplicaError("No replica takes a connection.", { cause });
  }
}

/** Parses `host:port`, or several separated by commas. */
export function parseReplicaAddresses(text: string): readonly ReplicaAddress[] {
  return text.split(",").map((address) => {
    const at = address.lastIndexOf(":");
    const host = address.slice(0, at).replaceAll(/^\[|\]$/g, "");
    return { host, port: Number(address.slice(at + 1)) };
  });
}

/** Returns the addresses in rotating order: each call begins with another one. */
export function inTurn<Address>(addresses: readonly Address[]): () => readonly Address[] {
  let turn = 0;
  return () => {
    const first = turn++ % Math.max(1, addresses.length);
    return [...addresses.slice(first), ...addresses.slice(0, first)];
  };
}

function nameOf({ host, port }: ReplicaAddress): string {
  return `${host}:${port}`;
}

/** A connection that can be written to; with TLS, one whose other end is authenticated. */
function connected(
  { host, port }: ReplicaAddress,
  tls: ConnectionOptions | undefined,
  timeoutMs: number,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const plain = connect({ host, port, noDelay: true });
    const socket = tls === undefined ? plain : connectTls({ ...tls, host, socket: plain });
    const fail = (error: Error): void => {
      clearTimeout(timer);
      plain.destroy();
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(() => {
      fail(new Error(`${host}:${port} took no connection within ${timeoutMs} ms.`));
    }, timeoutMs);
    // The TLS socket reports errors of the plain socket below it, which needs a listener nevertheless.
    if (socket !== plain) plain.on("error", fail);
    socket.once("error", fail);
    socket.once(tls === undefined ? "connect" : "secureConnect", () => {
      clearTimeout(timer);
      socket.off("error", fail);
      resolve(socket);
    });
  });
}

function ignore(): void {}
