import { subscribe } from "node:diagnostics_channel";
import { Socket } from "node:net";

/**
 * Four attempts of the kernel (at 0, 1, 3 and 7 s), and longer than the limits of other clients.
 */
const CONNECT_MS = 10_000;

let isLimiting = false;

/**
 * Gives up TCP connections that nobody answers, from now on and in this process. grpc-js has no
 * limit for connecting, and the kernel tries for two minutes with growing pauses. A restored link
 * would stay unused for as long as the cut lasted.
 */
export function limitConnecting(): void {
  if (isLimiting) return;
  isLimiting = true;
  subscribe("net.client.socket", limit);
}

function limit(message: unknown): void {
  if (!tellsOfSocket(message)) return;
  const { socket } = message;
  const timer = setTimeout(() => {
    const error = new Error(`No connection within ${CONNECT_MS} ms.`);
    socket.destroy(Object.assign(error, { code: "ETIMEDOUT" }));
  }, CONNECT_MS).unref();
  const stop = (): void => clearTimeout(timer);
  socket.once("connect", stop);
  socket.once("close", stop);
}

/** The message of Node's channel (https://nodejs.org/api/diagnostics_channel.html#tcp-sockets). */
function tellsOfSocket(message: unknown): message is { socket: Socket } {
  return (
    typeof message === "object" &&
    message !== null &&
    "socket" in message &&
    message.socket instanceof Socket
  );
}
