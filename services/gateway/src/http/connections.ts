import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { AppError } from "@workflow/errors";
import type { AnswerHeaders } from "./answer-headers.ts";
import { answerOn, beginAnswer } from "./answering.ts";
import { answerUnread } from "./unreadable.ts";

/** The time for the rest of a request body when the server stops. */
const BODY_GRACE_MS = 2_000;
const RETRY_AFTER_MS = 1_000;

/**
 * Tracks the connections of a server and their current answers, and closes them when the server
 * stops.
 */
export class Connections {
  readonly #server: Server;
  readonly #answerHeaders: AnswerHeaders;
  readonly #open = new Set<Socket>();
  #isLeaving = false;
  #isClosing = false;

  constructor(server: Server, answerHeaders: AnswerHeaders) {
    this.#server = server;
    this.#answerHeaders = answerHeaders;
    server.on("connection", (socket: Socket) => {
      this.#open.add(socket);
      socket.once("close", () => this.#open.delete(socket));
    });
  }

  /** Registers a request before it is served. */
  begin({ socket }: IncomingMessage, response: ServerResponse): void {
    if (this.#isLeaving) response.shouldKeepAlive = false;
    beginAnswer(socket, response, () => {
      // A stream has already promised to keep the connection.
      if (this.#isClosing) socket.destroySoon();
    });
  }

  /**
   * Makes each connection's next answer its last, so that clients reconnect elsewhere before
   * anything is cut.
   */
  leave(): void {
    this.#isLeaving = true;
  }

  /**
   * Stops accepting and closes idle connections, those with part of a request head included.
   * Requests get `graceMs` to finish; one whose body does not arrive gets UNAVAILABLE before that.
   * Then the remaining connections are cut.
   */
  async close(graceMs: number): Promise<void> {
    this.#isLeaving = true;
    this.#isClosing = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#open) {
      const response = answerOn(socket);
      if (response === undefined) socket.destroy();
      else response.shouldKeepAlive = false;
    }
    const refusal = setTimeout(() => this.#refuseLateBodies(), Math.min(BODY_GRACE_MS, graceMs));
    const cut = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(refusal);
    clearTimeout(cut);
  }

  #refuseLateBodies(): void {
    for (const socket of this.#open) {
      const response = answerOn(socket);
      if (response === undefined) continue;
      const { req: request, headersSent } = response;
      // A response without a socket waits behind another answer on the same connection.
      if (request.complete || headersSent || response.socket === null) continue;
      const message = "The server stops and has not received all of the request.";
      const error = new AppError("UNAVAILABLE", message, { retryAfterMs: RETRY_AFTER_MS });
      // The numbers for the log.
      response.statusCode = 503;
      answerUnread(error, socket, this.#answerHeaders, request.url);
      socket.destroySoon();
    }
  }
}
