/** One request. */
export interface SafeRequest {
  /** Any but CONNECT and TRACE; sent in upper case. */
  method: string;
  /** Absolute; without user name and password. A fragment is ignored. */
  url: string;
  /** Each name once; none of those that frame the message (content-length, host, connection, …). */
  headers?: Record<string, string>;
  /** A string is sent as UTF-8. */
  body?: string | Buffer;
  /** The whole exchange: waiting, connecting, redirects, the response's last byte. 1 … 2^31-1. */
  timeoutMs: number;
  /** Limit of the response body, both as received and as decoded. */
  maxResponseBytes: number;
  /**
   * Whether a larger response counts as well, with what has come of its body: cut at the limit, and not
   * decoded. False by default.
   */
  cutsResponse?: boolean;
  /**
   * Whether the receiver can tell that two requests are one, by what stands in them. Such a request is made
   * once more over a fresh connection when a kept one turns out to be closed. By default that is up to the
   * method and an Idempotency-Key.
   */
  isRepeatable?: boolean;
  /** Limit of the request body; none by default. */
  maxRequestBytes?: number;
  /** How many redirects to follow; with 0, the default, a redirect is returned as it is. */
  followRedirects?: number;
  /**
   * Asked with the URL of every hop, the first included, once its form and literal address passed the
   * policy and before a name is resolved or a connection is taken. What it throws refuses the hop and
   * is what the request rejects with, unchanged (an HttpClientError gets the true `sent`). The URL is
   * a copy. Synchronous: whatever the answer depends on is at hand before the request begins.
   */
  onHop?: (url: URL) => void;
  /**
   * Told of the bytes of a response's body as they come, encoded as they are, and then of those that
   * decoding makes of them. While the promise that it gives is pending no more are taken or made, so a
   * process that has no room lets the sender wait. Time goes on.
   */
  onData?: (bytes: number) => Promise<void> | undefined;
}

/** One response, of any status. */
export interface SafeResponse {
  status: number;
  /** Names in lower case; a list where the server sent a header several times. Latin-1. */
  headers: Record<string, string | string[]>;
  /** Decoded from gzip, deflate and br; `content-encoding` is then no longer among the headers. */
  body: Buffer;
  /** The URL that answered, after redirects. */
  url: string;
  /** From the call to the last byte, in whole milliseconds. */
  durationMs: number;
}

/** Makes requests on behalf of one tenant. */
export interface HttpRequester {
  /**
   * Makes one request; a response of any status is a success.
   *
   * @throws HttpClientError and nothing else, but for what `onHop` throws
   */
  request(options: SafeRequest, signal?: AbortSignal): Promise<SafeResponse>;
}
