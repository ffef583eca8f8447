import { subscribe } from "node:diagnostics_channel";
import type { Http2Session, Http2Stream } from "node:http2";

/** The largest window of HTTP/2 (RFC 9113, 6.9.1). */
const WINDOW_BYTES_MAX = 2 ** 31 - 1;

const widened = new WeakSet<Http2Session>();
let isWidening = false;

/**
 * Removes the flow control of whole connections, from now on and in this process; that of each call stays.
 * All calls of a connection share one window of 64 KiB. Once large messages have used it up, small answers
 * wait behind all of them: a read took 4.4 s beside sixteen plans of 3 MB each, and takes 0.1 s without. The
 * option of grpc-js (`grpc-node.flow_control_window`) is for clients only, and widens each call as well, so
 * slow readers keep that much. So this function listens to Node's channels.
 */
export function widenSessions(): void {
  if (isWidening) return;
  isWidening = true;
  subscribe("http2.client.stream.start", widen);
  subscribe("http2.server.stream.created", widen);
}

function widen(message: unknown): void {
  if (!tellsOfStream(message)) return;
  const { session } = message.stream;
  if (session === undefined || session.destroyed || widened.has(session)) return;
  widened.add(session);
  session.setLocalWindowSize(WINDOW_BYTES_MAX);
}

/** The message of Node's channels (https://nodejs.org/api/diagnostics_channel.html#http2). */
export function tellsOfStream(message: unknown): message is { stream: Http2Stream } {
  return typeof message === "object" && message !== null && "stream" in message;
}
