import { subscribe } from "node:diagnostics_channel";
import { Socket } from "node:net";

/** Four tries of the kernel (at 0, 1, 3 and 7 s), and above the limits that other clients have of their own. */
const CONNECT_MS = 10_000;

let isLimiting = false;

/**
 * Gives up TCP connections that nobody answers, from now on and in this process. grpc-js has no limit for that,
 * and the kernel goes on for two minutes with ever longer pauses: a link that is back would not be used for as
 * long as it was cut before.
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

/** What Node's channel carries (https://nodejs.org/api/diagnostics_channel.html#tcp-sockets). */
function tellsOfSocket(message: unknown): message is { socket: Socket } {
  return (
    typeof message === "object" &&
    message !== null &&
    "socket" in message &&
    message.socket instanceof Socket
  );
}
