import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isBodyHeld } from "./expected-continue.ts";

export interface LingeringCloseOptions {
  /** Whom a request comes from; so many connections of one are served at once, see below. */
  clientOf: (request: IncomingMessage) => string;
  /** How much is received and thrown away on one connection, in bytes. */
  bytesMax: number;
  /** How long that may take. */
  durationMs: number;
  /** Connections of which the rest is thrown away at once, of one client and in all. */
  connectionsMaxEach: number;
  connectionsMax: number;
}

/**
 * Closes connections whose client is still sending when it is answered (RFC 9112, section 9.6). To
 * close such a one at once makes the client's system drop the answer: it fails while it writes and
 * never reads why.
 */
export interface LingeringClose {
  /**
   * Sees to it that the rest of the body is thrown away if the request is answered before that has
   * come. After a short body the connection goes on; else the answer says that it closes.
   */
  guard(request: IncomingMessage, response: ServerResponse): void;
  /** Ends our side of a connection and throws away what still comes on it. */
  close(socket: Socket, client: string): void;
  /** Whether a connection is only kept to throw away what comes on it. */
  has(socket: Socket): boolean;
  /** Cuts these connections off; from now on others are closed at once. */
  stop(): void;
}

/** So much may come before the next request on the same connection. */
const SKIPPED_BYTES_MAX = 1024 * 1024;

export function createLingeringClose(options: LingeringCloseOptions): LingeringClose {
  const places = new Places(options);
  const lingering = new Set<Socket>();
  let isStopped = false;

  /** What comes does not reach the HTTP parser any more: none of it becomes a request. */
  const linger = (socket: Socket, leave: () => void): void => {
    let bytes = 0;
    lingering.add(socket);
    const timer = setTimeout(() => socket.destroy(), options.durationMs);
    socket.once("close", () => {
      clearTimeout(timer);
      lingering.delete(socket);
      leave();
    });
    socket.end();
    whenFlowing(socket, () => {
      socket.removeAllListeners("data");
      socket.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > options.bytesMax) socket.destroy();
      });
    });
  };

  /** The connection goes on when the body has ended in time. */
  const skip = (request: IncomingMessage, response: ServerResponse, leave: () => void): void => {
    const { socket } = request;
    let timer: NodeJS.Timeout | undefined;
    const done = (): void => {
      clearTimeout(timer);
      request.off("close", done);
      socket.off("close", done);
      leave();
    };
    request.once("close", done);
    socket.once("close", done);
    response.once("finish", () => {
      if (request.closed) return;
      timer = setTimeout(() => socket.destroy(), options.durationMs);
      request.resume();
    });
  };

  const beforeAnswer = (request: IncomingMessage, response: ServerResponse): void => {
    const leave = isStopped ? null : places.take(options.clientOf(request));
    if (leave !== null && response.shouldKeepAlive && isSkippable(request)) {
      skip(request, response, leave);
      return;
    }
    response.shouldKeepAlive = false;
    if (leave === null) return;
    const { socket } = request;
    const destroySoon = socket.destroySoon.bind(socket);
    socket.once("close", leave);
    // What Node calls after the last answer of a connection.
    socket.destroySoon = () => {
      if (isStopped) destroySoon();
      else linger(socket, leave);
    };
  };

  return {
    guard(request, response) {
      if (!mayHaveBody(request)) return;
      const writeHead: (...head: never[]) => ServerResponse = response.writeHead.bind(response);
      // Node, too, calls it for heads that nobody writes explicitly.
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
 * A socket that was paused under the HTTP parser flows again only while the parser still holds it, so
 * that has to come first.
 */
function whenFlowing(socket: Socket, then: () => void): void {
  if (!socket.isPaused()) then();
  else socket.once("resume", then).resume();
}

function mayHaveBody({ headers }: IncomingMessage): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  return Number(headers["content-length"] ?? 0) > 0;
}

/** Whether it is known that little comes, and that it does come. */
function isSkippable(request: IncomingMessage): boolean {
  const announced = Number(request.headers["content-length"]);
  return announced <= SKIPPED_BYTES_MAX && !isBodyHeld(request);
}

/** How many connections linger, in all and of each client. */
class Places {
  readonly #max: number;
  readonly #maxEach: number;
  readonly #taken = new Map<string, number>();
  #count = 0;

  constructor({ connectionsMax, connectionsMaxEach }: LingeringCloseOptions) {
    this.#max = connectionsMax;
    this.#maxEach = connectionsMaxEach;
  }

  /** A function that gives the place back, to be called once or more; null when there is none. */
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
