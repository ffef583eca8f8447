import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { afterAnswer } from "./request-info.ts";

/**
 * Ends an exchange whose client leaves before the answer was sent. A client that only ends its side
 * counts as gone: until something is written, a closed connection looks the same.
 */
export function abortOnDisconnect(
  exchange: AbortController,
  { socket }: IncomingMessage,
  response: ServerResponse,
): void {
  const unwatch = watch(socket);
  afterAnswer(response, () => {
    unwatch();
    if (!response.writableFinished) exchange.abort();
  });
  if (socket.readableEnded) socket.destroy();
}

/**
 * The number of exchanges that end with a connection: a client may send requests before earlier
 * ones are answered.
 */
const watched = new WeakMap<Socket, number>();

/** Ends a connection when its client ends its side. */
function watch(socket: Socket): () => void {
  const count = watched.get(socket) ?? 0;
  watched.set(socket, count + 1);
  // One listener for a connection, however many requests wait for their answers.
  if (count === 0) socket.on("end", leave);
  return () => {
    const left = (watched.get(socket) ?? 1) - 1;
    watched.set(socket, left);
    if (left === 0) socket.off("end", leave);
  };
}

function leave(this: Socket): void {
  this.destroy();
}
