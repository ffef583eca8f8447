/** What sends requests: as much of `fetch` as is needed. */
export type Fetch = (url: URL, init: RequestInit) => Promise<Response>;

/** How to reach the service, and how patient to be. */
export interface ApiOptions {
  /** Where the API is: `https://workflows.example.com/api/v1`. */
  baseUrl: string | URL;
  /** `wfk_…`. Without one the session of the page's own origin counts. */
  apiKey?: string | undefined;
  /** How often a request is sent again, at most; 2 by default. */
  maxRetries?: number | undefined;
  /** How long one try may take until its answer is there, in milliseconds; 60,000 by default. */
  timeoutMs?: number | undefined;
  /**
   * The longest wait between two tries, in milliseconds; 60,000 by default. When the service asks for more, its
   * error is thrown at once.
   */
  maxRetryDelayMs?: number | undefined;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Stands in for the global `fetch`. */
  fetch?: Fetch | undefined;
}

/** What can be said of a single call. */
export interface CallOptions {
  /** Ends the call; what it throws then is the signal's reason. */
  signal?: AbortSignal | undefined;
  /** In place of the client's. */
  maxRetries?: number | undefined;
  /** In place of the client's. */
  timeoutMs?: number | undefined;
  /** Sent beside the client's; where both have a header, this one counts. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Gets what the answer says beside its data, its `ETag` for example. */
  onResponse?: ((response: ResponseInfo) => void) | undefined;
}

/** The outside of an answer. */
export interface ResponseInfo {
  status: number;
  headers: Headers;
  /** Names the request in the service's logs. */
  requestId: string | null;
}

/** Of changes that may be made for one state only. */
export interface IfMatch {
  /** The `ETag` of that state. When the object is another by now the call fails with PRECONDITION_FAILED. */
  ifMatch?: string | undefined;
}

/** Of calls that are told apart by a key. */
export interface Idempotent {
  /** Calls with the same key do their work once, for 24 hours. Each call has one of its own by default. */
  idempotencyKey?: string | undefined;
}

/** One request as it goes over the wire. */
export interface WireRequest {
  method: string;
  url: URL;
  headers: Headers;
  body: string | undefined;
  signal: AbortSignal;
}

/** A service and the right to use it. Logging one does not show the key. */
export class Api {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly maxRetries: number;
  readonly timeoutMs: number;
  readonly maxRetryDelayMs: number;
  readonly #headers: Headers;
  readonly #fetch: Fetch;

  constructor(options: ApiOptions) {
    this.baseUrl = readBaseUrl(options.baseUrl);
    this.maxRetries = amount("maxRetries", options.maxRetries) ?? 2;
    this.timeoutMs = amount("timeoutMs", options.timeoutMs) ?? 60_000;
    this.maxRetryDelayMs = amount("maxRetryDelayMs", options.maxRetryDelayMs) ?? 60_000;
    this.#headers = toHeaders({ ...userAgent(), ...options.headers });
    if (options.apiKey !== undefined) this.#headers.set("x-api-key", readKey(options.apiKey));
    // As a method of this object a browser's fetch would refuse to work.
    const send = options.fetch ?? globalThis.fetch;
    this.#fetch = (url, init) => send(url, init);
  }

  /** Sends a request as it is. Rejects as `fetch` does. */
  send({ method, url, headers, body, signal }: WireRequest): Promise<Response> {
    const all = new Headers(this.#headers);
    for (const [name, value] of headers) all.set(name, value);
    return this.#fetch(url, {
      method,
      headers: all,
      signal,
      // A redirect would take the key along, to whatever host it names.
      redirect: "manual",
      ...(body === undefined ? {} : { body }),
    });
  }
}

/**
 * Says where the service is; sends nothing yet.
 *
 * @throws TypeError when the address or the key cannot be one, or a number is none
 */
export function connect(options: ApiOptions): Api {
  return new Api(options);
}

/**
 * The same as headers. The platform's own error would show the value.
 *
 * @throws TypeError that names the header
 */
export function toHeaders(values: Readonly<Record<string, string>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(values)) {
    try {
      headers.set(name, value);
    } catch {
      throw new TypeError(`The header ${name} cannot be sent: its name or its value is not valid.`);
    }
  }
  return headers;
}

/**
 * A time or a count among options: 0 or more, or Infinity. A timer takes NaN for no time at all, and a count that is NaN
 * is never reached.
 *
 * @throws TypeError that names the option
 */
export function amount(name: string, value: number | undefined): number | undefined {
  if (value === undefined || value >= 0) return value;
  throw new TypeError(`${name} must be a number from 0 on, or Infinity.`);
}

/** Errors name no value: an address may hold a password, and a mistyped key is nearly one. */
function readBaseUrl(value: string | URL): string {
  if (!URL.canParse(String(value))) throw new TypeError("baseUrl must be an absolute URL.");
  const url = new URL(value);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new TypeError("baseUrl must begin with https:// or http://.");
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("baseUrl must hold no user and no password.");
  }
  if (url.search !== "" || url.hash !== "") {
    throw new TypeError("baseUrl must have no query and no fragment.");
  }
  return url.href.replace(/\/+$/, "");
}

function readKey(value: string): string {
  if (!/^[\x21-\x7e]+$/.test(value)) {
    throw new TypeError("apiKey must be printable ASCII without spaces.");
  }
  return value;
}

declare const process: { versions?: { node?: string } } | undefined;

/** Browsers say themselves who they are, and some would ask the service first whether they may say more. */
function userAgent(): Record<string, string> {
  if ("document" in globalThis || typeof process === "undefined") return {};
  const node = process.versions?.node;
  return node === undefined ? {} : { "user-agent": `workflow-client/0.1.0 node/${node}` };
}
