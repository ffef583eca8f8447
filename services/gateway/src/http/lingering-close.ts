import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isBodyHeld } from "./expected-continue.ts";

export interface LingeringCloseOptions {
  /** The client network of a request; each may have a limited number of lingering connections. */
  clientOf: (request: IncomingMessage) => string;
  /** The number of bytes that are received and discarded on one connection. */
  bytesMax: number;
  /** The time limit for that, in milliseconds. */
  durationMs: number;
  /** The limit of lingering connections, of one client network and in all. */
  connectionsMaxEach: number;
  connectionsMax: number;
}

/**
 * Closes connections whose client is still sending when it is answered (RFC 9112, section 9.6). An
 * immediate close makes the client's system discard the answer: its write fails and it never reads
 * why.
 */
export interface LingeringClose {
  /**
   * Discards the rest of a body when the request is answered early. After a short body the
   * connection stays open; otherwise the answer announces the close.
   */
  guard(request: IncomingMessage, response: ServerResponse): void;
  /** Ends our side of a connection and discards what still arrives on it. */
  close(socket: Socket, client: string): void;
  /** Whether a connection is open only to discard what arrives. */
  has(socket: Socket): boolean;
  /** Cuts lingering connections; from now on others are closed at once. */
  stop(): void;
}

/** A rest up to this size may still arrive before the connection's next request. */
const SKIPPED_BYTES_MAX = 1024 * 1024;

export function createLingeringClose(options: LingeringCloseOptions): LingeringClose {
  const places = new Places(options);
  const lingering = new Set<Socket>();
  let isStopped = false;

  const linger = (socket: Socket, leave: () => void): void => {
    lingering.add(socket);
    socket.once("close", () => {
      lingering.delete(socket);
      leave();
    });
    discardRest(socket, options);
  };

  const beforeAnswer = (request: IncomingMessage, response: ServerResponse): void => {
    const leave = isStopped ? null : places.take(options.clientOf(request));
    if (leave !== null && response.shouldKeepAlive && isSkippable(request)) {
      skipRest(request, response, options.durationMs, leave);
      return;
    }
    response.shouldKeepAlive = false;
    if (leave === null) return;
    const { socket } = request;
    const destroySoon = socket.destroySoon.bind(socket);
    socket.once("close", leave);
    // The method that Node calls after the last answer of a connection.
    socket.destroySoon = () => {
      if (isStopped) destroySoon();
      else linger(socket, leave);
    };
  };

  return {
    guard(request, response) {
      if (!mayHaveBody(request)) return;
      const writeHead: (...head: never[]) => ServerResponse = response.writeHead.bind(response);
      // Node calls it too for heads that no code writes explicitly.
      response.writeHead = (...head: never[]) => {
        if (!response.headersSent && !request.complete) beforeAnswer(request, response);
        return writeHead(...head);
      };
    },
    close(socket, client) {
      const leave = isStopped ? null : places.take(client);
      if (leave === null) socket.destroySoon();
      else linger(socket, leave);
    },
    has: (socket) => lingering.has(socket),
    stop() {
      isStopped = true;
      for (const socket of lingering) socket.destroy();
    },
  };
}

/**
 * Ends our side of a connection, and cuts it once the client has sent too much or for too long. The
 * HTTP parser is detached, so that nothing which arrives becomes a request.
 */
function discardRest(socket: Socket, { bytesMax, durationMs }: LingeringCloseOptions): void {
  let bytes = 0;
  const timer = setTimeout(() => socket.destroy(), durationMs);
  socket.once("close", () => clearTimeout(timer));
  socket.end();
  whenFlowing(socket, () => {
    socket.removeAllListeners("data");
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) socket.destroy();
    });
  });
}

/**
 * Discards the rest of a request's body. The connection stays open when the body ends in time.
 *
 * @param onOver called once, when the request or its connection is closed
 */
function skipRest(
  request: IncomingMessage,
  response: ServerResponse,
  durationMs: number,
  onOver: () => void,
): void {
  const { socket } = request;
  let timer: NodeJS.Timeout | undefined;
  const over = (): void => {
    clearTimeout(timer);
    request.off("close", over);
    socket.off("close", over);
    onOver();
  };
  request.once("close", over);
  socket.once("close", over);
  response.once("finish", () => {
    if (request.closed) return;
    timer = setTimeout(() => socket.destroy(), durationMs);
    request.resume();
  });
}

/**
 * A socket that was paused under the HTTP parser resumes only while the parser is attached, so
 * resume it first.
 */
function whenFlowing(socket: Socket, then: () => void): void {
  if (!socket.isPaused()) then();
  else socket.once("resume", then).resume();
}

function mayHaveBody({ headers }: IncomingMessage): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  return Number(headers["content-length"] ?? 0) > 0;
}

/** Whether the rest is known to be short, and is really being sent. */
function isSkippable(request: IncomingMessage): boolean {
  const announced = Number(request.headers["content-length"]);
  return announced <= SKIPPED_BYTES_MAX && !isBodyHeld(request);
}

/** Counts lingering connections, in all and by client network. */
class Places {
  readonly #max: number;
  readonly #maxEach: number;
  readonly #taken = new Map<string, number>();
  #count = 0;

  constructor({ connectionsMax, connectionsMaxEach }: LingeringCloseOptions) {
    this.#max = connectionsMax;
    this.#maxEach = connectionsMaxEach;
  }

  /**
   * Takes a place. The function releases it and may be called repeatedly; null when there is no
   * place.
   */
  take(client: string): (() => void) | null {
    const taken = this.#taken.get(client) ?? 0;
    if (this.#count >= this.#max || taken >= this.#maxEach) return null;
    this.#count += 1;
    this.#taken.set(client, taken + 1);
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      this.#leave(client);
    };
  }

  #leave(client: string): void {
    this.#count -= 1;
    const taken = (this.#taken.get(client) ?? 1) - 1;
    if (taken === 0) this.#taken.delete(client);
    else this.#taken.set(client, taken);
  }
}
