import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

const ANSWER = Symbol("answer under way");

interface AnsweringSocket extends Socket {
  [ANSWER]?: ServerResponse | undefined;
}

/**
 * The answers that are under way, by their connections. Each stands on its connection itself: a Map with so much
 * coming and going keeps what has left it from the garbage collector's quick rounds (ADR 49).
 */
export class Answering {
  readonly #sockets = new Set<AnsweringSocket>();

  /** A connection has come. */
  follow(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  /** A request has come; of several on one connection the latest counts. */
  begin(socket: AnsweringSocket, response: ServerResponse): void {
    socket[ANSWER] = response;
    response.once("close", () => {
      if (socket[ANSWER] === response) socket[ANSWER] = undefined;
    });
  }

  /** The answer that is under way on a connection. */
  on(socket: AnsweringSocket): ServerResponse | undefined {
    return socket[ANSWER];
  }

  all(): ServerResponse[] {
    return [...this.#sockets].flatMap((socket) => socket[ANSWER] ?? []);
  }
}
