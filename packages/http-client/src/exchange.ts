import type { Socket } from "node:net";

import type { Dispatcher } from "undici";

import { BodyCollector } from "./body-collector.ts";
import { HttpClientError } from "./http-client-error.ts";
import type { Header } from "./request-headers.ts";
import { isBrokenConnection, toHttpClientError } from "./transport-errors.ts";

/** One request to one URL, checked and ready to be sent. */
export interface HopRequest {
  method: string;
  url: URL;
  headers: readonly Header[];
  body: Buffer | undefined;
  onData?: OnData | undefined;
  /** Whether a response over the limit is cut there, instead of refused. */
  cutsResponse?: boolean | undefined;
  /** Whether a receiver recognizes a repeated request. */
  isRepeatable?: boolean | undefined;
}

/** Called with the received bytes of a body. No more are read while its promise is pending. */
export type OnData = (bytes: number) => Promise<void> | undefined;

/** One response; the body is as received, still encoded. */
export interface HopResponse {
  status: number;
  /** Names in lower case; a list where the server sent a header several times. */
  headers: Record<string, string | string[]>;
  body: Buffer;
}

/** The connection of a request, once there is one. */
export interface Link {
  socket: Socket | undefined;
  /** The number of requests that were started on the connection. */
  requests: number;
}

/**
 * A kept connection broke before the first byte of an answer. The server most likely closed the connection
 * while the request was on its way.
 */
export class StaleConnectionError extends HttpClientError {}

/**
 * Sends one request and reads its whole response.
 *
 * @param stop aborted with an HttpClientError as its reason; the connection is closed at once
 * @throws HttpClientError with the true `sent`; StaleConnectionError, a subclass
 */
export function exchange(
  dispatcher: Dispatcher,
  hop: HopRequest,
  maxResponseBytes: number,
  stop: AbortSignal,
): Promise<HopResponse> {
  return new Promise((resolve, reject) => {
    const handler = new ExchangeHandler(hop, maxResponseBytes, stop, { resolve, reject });
    if (handler.settled) return;
    dispatcher.dispatch(
      {
        origin: hop.url.origin,
        path: `${hop.url.pathname}${hop.url.search}`,
        method: hop.method,
        headers: hop.headers.flat(),
        body: hop.body ?? null,
        // The caller's deadline covers both.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      handler,
    );
  });
}

/** Follows one exchange through undici's callbacks; settles once, and frees the signal then. */
export class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #hop: HopRequest;
  readonly #maxResponseBytes: number;
  readonly #stop: AbortSignal;
  readonly #resolve: (response: HopResponse) => void;
  readonly #reject: (error: HttpClientError) => void;
  readonly #body: BodyCollector;
  #controller: Dispatcher.DispatchController | undefined;
  #link: Link | undefined;
  /** Whether the connection had carried a request before, and the bytes that it had received. */
  #reused: { socket: Socket; bytesRead: number } | undefined;
  #status = 0;
  #headers: Record<string, string | string[]> = {};
  settled = false;

  constructor(
    hop: HopRequest,
    maxResponseBytes: number,
    stop: AbortSignal,
    settle: {
      resolve: (response: HopResponse) => void;
      reject: (error: HttpClientError) => void;
    },
  ) {
    this.#hop = hop;
    this.#maxResponseBytes = maxResponseBytes;
    this.#stop = stop;
    this.#resolve = settle.resolve;
    this.#reject = settle.reject;
    this.#body = new BodyCollector(maxResponseBytes);
    if (stop.aborted) this.#onStop();
    else stop.addEventListener("abort", this.#onStop, { once: true });
  }

  /** undici calls this when the request has a client, whose connection may still have to be opened. */
  useLink(link: Link): void {
    this.#link = link;
  }

  /** undici calls this when the request has a connection, right before the first byte is written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The request was aborted while it waited. Throwing removes it from the queue and spares the connection.
    if (this.settled) throw new HttpClientError("ABORTED", "The request was given up.");
    this.#controller = controller;
    const link = this.#link;
    if (link?.socket === undefined) return;
    const { socket } = link;
    if (link.requests > 0) this.#reused = { socket, bytesRead: socket.bytesRead };
    link.requests += 1;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = withoutUndefined(headers);
    // A response without a body may still name a length.
    if (this.#hop.method === "HEAD" || status === 204 || status === 304) return;
    if (this.#hop.cutsResponse === true) return;
    if (Number(headers["content-length"] ?? 0) > this.#maxResponseBytes) this.#failTooLarge();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.settled) return;
    if (!this.#body.append(chunk)) {
      if (this.#hop.cutsResponse !== true) return this.#failTooLarge();
      this.#body.fill(chunk);
      return this.#cut(controller);
    }
    const waiting = this.#hop.onData?.(chunk.length);
    if (waiting === undefined) return;
    // TCP holds up the sender meanwhile; the caller's deadline still applies.
    controller.pause();
    waiting.then(
      () => controller.resume(),
      (error: unknown) => this.#fail(error),
    );
  }

  onResponseEnd(): void {
    this.#succeed();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.#isStale(error)) return this.#fail(error);
    if (!this.#settle()) return;
    const { message, cause } = toHttpClientError(error, this.#hop.url.host, true);
    this.#reject(new StaleConnectionError("NETWORK", message, { sent: true, cause }));
  }

  #isStale(error: Error): boolean {
    if (this.#reused === undefined || !isBrokenConnection(error)) return false;
    const { socket, bytesRead } = this.#reused;
    return socket.bytesRead === bytesRead;
  }

  readonly #onStop = (): void => {
    this.#fail(this.#stop.reason);
  };

  #succeed(): void {
    if (!this.#settle()) return;
    this.#resolve({ status: this.#status, headers: this.#headers, body: this.#body.bytes() });
  }

  /** Takes the answer as it is and closes the connection, since the rest may never end. */
  #cut(controller: Dispatcher.DispatchController): void {
    this.#succeed();
    controller.abort(new HttpClientError("ABORTED", "The rest of the response is not wanted."));
  }

  #failTooLarge(): void {
    const message = `The response body is larger than ${this.#maxResponseBytes} bytes.`;
    this.#fail(new HttpClientError("RESPONSE_TOO_LARGE", message));
  }

  #fail(error: unknown): void {
    if (!this.#settle()) return;
    const sent = this.#controller !== undefined;
    const failure = toHttpClientError(error, this.#hop.url.host, sent);
    this.#reject(failure);
    this.#controller?.abort(failure);
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.#stop.removeEventListener("abort", this.#onStop);
    return true;
  }
}

function withoutUndefined(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string | string[]> {
  const result: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    // Assigning to this one name would set the object's prototype.
    if (value !== undefined && name !== "__proto__") result[name] = value;
  }
  return result;
}
