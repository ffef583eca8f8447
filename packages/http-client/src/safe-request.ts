/** A request. */
export interface SafeRequest {
  /** Any but CONNECT and TRACE; sent in upper case. */
  method: string;
  /** An absolute URL without user name and password. A fragment is ignored. */
  url: string;
  /** Each name once. Headers that frame the message (content-length, host, connection, …) are refused. */
  headers?: Record<string, string>;
  /** A string is sent as UTF-8. */
  body?: string | Buffer;
  /**
   * The limit of the whole exchange in milliseconds, with waiting, connecting, redirects and the last byte: 1
   * … 2^31-1.
   */
  timeoutMs: number;
  /** The limit of the response body in bytes, both as received and as decoded. */
  maxResponseBytes: number;
  /**
   * Whether a larger response is a success as well. The larger body is cut at the limit, and not decoded.
   * False by default.
   */
  cutsResponse?: boolean;
  /**
   * Whether the receiver recognizes a repeated request by its content. Such a request is sent once more over
   * a fresh connection when a kept one is closed. By default the method and an Idempotency-Key decide.
   */
  isRepeatable?: boolean;
  /** The limit of the request body in bytes; none by default. */
  maxRequestBytes?: number;
  /** The redirects to follow. With 0, the default, a redirect is returned as it is. */
  followRedirects?: number;
  /**
   * Called with the URL of every hop, the first included. The URL has passed the policy by form and literal
   * address, and no name is resolved yet. An error refuses the hop and is passed on unchanged (an
   * HttpClientError gets the true `sent`). The URL is a copy. The call is synchronous, so its facts must be
   * at hand before the request.
   */
  onHop?: (url: URL) => void;
  /**
   * Called with the received bytes of a response's body, still encoded, and then with the decoded bytes. No
   * more are read or decoded while its promise is pending, so a process without room makes the sender wait.
   * The deadline still applies.
   */
  onData?: (bytes: number) => Promise<void> | undefined;
}

/** A response of any status. */
export interface SafeResponse {
  status: number;
  /** Names in lower case; a list where the server sent a header several times. Latin-1. */
  headers: Record<string, string | string[]>;
  /** Decoded from gzip, deflate and br; `content-encoding` is then no longer among the headers. */
  body: Buffer;
  /** The URL of this response, after redirects. */
  url: string;
  /** The time from the call to the last byte, in whole milliseconds. */
  durationMs: number;
}

/** Makes requests on behalf of one tenant. */
export interface HttpRequester {
  /**
   * Makes one request. A response of any status is a success.
   *
   * @throws HttpClientError; errors of `onHop` are passed on
   */
  request(options: SafeRequest, signal?: AbortSignal): Promise<SafeResponse>;
}
