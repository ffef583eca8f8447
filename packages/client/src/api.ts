/** The part of `fetch` that sends requests. */
export type Fetch = (url: URL, init: RequestInit) => Promise<Response>;

/** The address of the service, credentials, and limits for waiting. */
export interface ApiOptions {
  /** The base URL of the API: `https://workflows.example.com/api/v1`. */
  baseUrl: string | URL;
  /** The API key, `wfk_…`. Without one, the session of the page's own origin is used. */
  apiKey?: string | undefined;
  /** How often a request is retried at most; 2 by default. */
  maxRetries?: number | undefined;
  /** The time limit of one try until its answer, in milliseconds; 60,000 by default. */
  timeoutMs?: number | undefined;
  /**
   * The longest wait between two tries, in milliseconds; 60,000 by default. When the service asks for more, its
   * error is thrown at once.
   */
  maxRetryDelayMs?: number | undefined;
  /** Headers of every request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** A replacement for the global `fetch`. */
  fetch?: Fetch | undefined;
}

/** Options of a single call. */
export interface CallOptions {
  /** Ends the call, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Replaces the client's value. */
  maxRetries?: number | undefined;
  /** Replaces the client's value. */
  timeoutMs?: number | undefined;
  /** Headers beside the client's. They precede client headers of the same name. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Receives the facts beside the data, such as the `ETag`. */
  onResponse?: ((response: ResponseInfo) => void) | undefined;
}

/** The status and headers of an answer. */
export interface ResponseInfo {
  status: number;
  headers: Headers;
  /** The id of the request in the service's logs. */
  requestId: string | null;
}

/** An option of changes that apply to one state only. */
export interface IfMatch {
  /**
   * The `ETag` of that state. The call fails with PRECONDITION_FAILED when the object has changed since.
   */
  ifMatch?: string | undefined;
}

/** An option of calls that a key makes repeatable. */
export interface Idempotent {
  /**
   * Calls with the same key do their work once in 24 hours. Each call has its own key by default.
   */
  idempotencyKey?: string | undefined;
}

/** A request as it is sent. */
export interface WireRequest {
  method: string;
  url: URL;
  headers: Headers;
  body: string | undefined;
  signal: AbortSignal;
}

/** A service with the credentials to use it. Logging it does not show the key. */
export class Api {
  /** The base URL, without a slash at the end. */
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
    // A browser's fetch refuses to work as a method of another object.
    const send = options.fetch ?? globalThis.fetch;
    this.#fetch = (url, init) => send(url, init);
  }

  /** Sends a request unchanged. Rejects as `fetch` does. */
  send({ method, url, headers, body, signal }: WireRequest): Promise<Response> {
    const all = new Headers(this.#headers);
    for (const [name, value] of headers) all.set(name, value);
    return this.#fetch(url, {
      method,
      headers: all,
      signal,
      // Following a redirect would send the key to the host that it names.
      redirect: "manual",
      ...(body === undefined ? {} : { body }),
    });
  }
}

/**
 * Describes a service; nothing is sent yet.
 * @throws TypeError for an invalid address, key or number
 */
export function connect(options: ApiOptions): Api {
  return new Api(options);
}

/**
 * Converts values to headers. The platform's own error would show the value.
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
 * Checks a time or a count: 0 or more, or Infinity. A timer would treat NaN as no time, and a count of NaN is never
 * reached.
 * @throws TypeError that names the option
 */
export function amount(name: string, value: number | undefined): number | undefined {
  if (value === undefined || value >= 0) return value;
  throw new TypeError(`${name} must be a number from 0 on, or Infinity.`);
}

/** The errors quote no value: an address may hold a password, and a mistyped key is nearly one. */
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

/**
 * Browsers send their own user agent, and some would ask the service before they send another one.
 */
function userAgent(): Record<string, string> {
  if ("document" in globalThis || typeof process === "undefined") return {};
  const node = process.versions?.node;
  return node === undefined ? {} : { "user-agent": `workflow-client/0.1.0 node/${node}` };
}
