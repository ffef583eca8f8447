import { subscribe } from "node:diagnostics_channel";
import type { Http2Session, Http2Stream } from "node:http2";

/** The most that HTTP/2 allows (RFC 9113, 6.9.1). */
const WINDOW_BYTES_MAX = 2 ** 31 - 1;

const widened = new WeakSet<Http2Session>();
let isWidening = false;

/**
 * Takes the flow control of whole connections away, from now on and in this process. The flow
 * control of each call stays. All calls of a connection share one window of 64 KiB. Small answers
 * wait behind large messages that have used up the window: a read took 4.4 s beside sixteen plans
 * of 3 MB each, and takes 0.1 s without. grpc-js has an option for the client only
 * (`grpc-node.flow_control_window`). The option widens each call as well, and a slow reader would
 * keep that much. Node's channels tell of each call instead.
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
