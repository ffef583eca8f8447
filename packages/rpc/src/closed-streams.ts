import { subscribe } from "node:diagnostics_channel";
import type { Http2Stream } from "node:http2";
import { tellsOfStream } from "./session-windows.ts";

/** Each test file loads this module, but all share Node's channels. */
const WATCHED = Symbol.for("workflow.watched stream");

let isReleasing = false;

/**
 * Empties each HTTP/2 stream that has closed, from now on and in this process (ADR 58). Node 24 and
 * 26 create a closure in the old generation for each stream. The closure refers to the stream until
 * the next major collection. The listeners of grpc-js refer to the rest of a call: its metadata,
 * its messages, its waiting caller. Minor collections could therefore free nothing of a call. Every
 * call made the next major collection come sooner and take longer.
 */
export function releaseClosedStreams(): void {
  if (isReleasing) return;
  isReleasing = true;
  releaseFrom("http2.client.stream.created", ["authority", "requestAsyncResource", "sent-headers"]);
  releaseFrom("http2.server.stream.created", ["authority", "sent-headers", "sent-trailers"]);
}

/**
 * @param kept descriptions of the symbols whose values a closed stream no longer needs; symbols
 * that a later Node lacks are skipped
 */
function releaseFrom(channel: string, kept: readonly string[]): void {
  const missing = new Set(kept);
  const symbols: symbol[] = [];
  subscribe(channel, (message) => {
    if (!tellsOfStream(message) || WATCHED in message.stream) return;
    Object.assign(message.stream, { [WATCHED]: true });
    message.stream.once("close", release);
  });

  /** The first of the listeners for "close"; the others are called all the same. */
  function release(this: Http2Stream): void {
    // Node's own listener for removals would be called for each of the others.
    this.removeAllListeners("removeListener");
    this.removeAllListeners();
    this.on("error", ignore);
    if (missing.size > 0) findSymbols(this);
    for (const symbol of symbols) if (symbol in this) Reflect.set(this, symbol, undefined);
  }

  /** A stream has some of them only once it has sent something. */
  function findSymbols(stream: Http2Stream): void {
    for (const symbol of Object.getOwnPropertySymbols(stream)) {
      if (missing.delete(symbol.description ?? "")) symbols.push(symbol);
    }
  }
}

/** A closed stream should not fail any more; without a listener an error would end the process. */
function ignore(): void {}
