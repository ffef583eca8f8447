import type { Writable } from "./http/write-json.ts";

export type SuccessStatus = 200 | 201 | 202 | 204;
/** The form of a successful answer. */
export type ContentType =
  "application/json" | "text/event-stream" | "text/csv" | "application/jsonl";

/** A successful answer. */
export interface Reply<Status extends SuccessStatus = SuccessStatus> {
  status: Status;
  data: Writable;
  meta?: Writable;
  /** The `Set-Cookie` header. */
  cookie?: string;
  /** The `ETag` of the resource. A read whose `If-None-Match` names it is answered with 304. */
  etag?: string;
  /** Called when the client has the answer, or has gone. */
  onOver?: () => void;
}

/**
 * A successful answer whose `data` is told bit by bit, because it may be too long for all of it to be
 * held.
 */
export interface LongReply {
  /** Pieces of JSON text, which together are the `data` of the envelope. */
  longData: AsyncIterable<string>;
}

/** One server-sent event. */
export interface ServerEvent {
  event: string;
  /** What a client that connects anew sends as `Last-Event-ID`. */
  id: string;
  data: Writable;
}

/**
 * An answer that is told bit by bit, as server-sent events. Null says that there is nothing to tell
 * yet; one that ends without anything is answered with 204, which tells clients not to come again.
 */
export interface EventStream {
  events: AsyncIterable<ServerEvent | null>;
}

/** An answer that is a file, told bit by bit. */
export interface FileReply {
  file: {
    /** The name to save it under. */
    name: string;
    contentType: ContentType;
    /** UTF-8. */
    chunks: AsyncIterable<Uint8Array>;
  };
}

/** An answer that sends the client elsewhere (302). */
export interface RedirectReply {
  /** Absolute. */
  redirect: string;
}
