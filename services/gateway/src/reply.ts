import type { Writable } from "./http/write-json.ts";

export type SuccessStatus = 200 | 201 | 202 | 204;
/** The content types of successful answers. */
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
  /** Called when the client has received the answer or left. */
  onOver?: () => void;
}

/** A successful answer whose `data` is sent in pieces, because the whole may be too long for memory. */
export interface LongReply {
  /** Pieces of JSON text that together form the `data` of the envelope. */
  longData: AsyncIterable<string>;
}

/** One server-sent event. */
export interface ServerEvent {
  event: string;
  /** The id that a reconnecting client sends as `Last-Event-ID`. */
  id: string;
  data: Writable;
}

/**
 * A stream of server-sent events. Null means that there is nothing to send yet. A stream that ends
 * without an event is answered with 204, which tells clients not to reconnect.
 */
export interface EventStream {
  events: AsyncIterable<ServerEvent | null>;
}

/** An answer that is a file, sent in pieces. */
export interface FileReply {
  file: {
    /** The file name that clients suggest when they save the file. */
    name: string;
    contentType: ContentType;
    /** The content in UTF-8. */
    chunks: AsyncIterable<Uint8Array>;
  };
}

/** An answer that sends the client elsewhere (302). */
export interface RedirectReply {
  /** An absolute URL. */
  redirect: string;
}
