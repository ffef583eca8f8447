import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

const ANSWER = Symbol("answer under way");

interface AnsweringSocket extends Socket {
  [ANSWER]?: ServerResponse | undefined;
}

/**
 * The current answer is stored on the connection itself: a Map that changes with each request keeps
 * its former entries from the collector's short cycles (ADR 49).
 */

/** Notes that a request has arrived; of several on one connection the latest counts. */
export function beginAnswer(
  socket: AnsweringSocket,
  response: ServerResponse,
  onOver: () => void,
): void {
  socket[ANSWER] = response;
  response.once("close", () => {
    if (socket[ANSWER] !== response) return;
    socket[ANSWER] = undefined;
    onOver();
  });
}

/** The current answer of a connection. */
export function answerOn(socket: AnsweringSocket): ServerResponse | undefined {
  return socket[ANSWER];
}
