import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

const ANSWER = Symbol("answer under way");

interface AnsweringSocket extends Socket {
  [ANSWER]?: ServerResponse | undefined;
}

/*
 * The answer that is under way on a connection stands on the connection itself: a Map with so much coming and
 * going keeps what has left it from the garbage collector's quick rounds (ADR 49).
 */

/** A request has come; of several on one connection the latest counts. */
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

/** The answer that is under way on a connection. */
export function answerOn(socket: AnsweringSocket): ServerResponse | undefined {
  return socket[ANSWER];
}
