import { toHeaders } from "./api.ts";
import type { CallOptions, Api, Idempotent, IfMatch, WireRequest } from "./api.ts";
import { InvalidParameterError } from "./errors.ts";

/** A value of a query parameter. Undefined ones are left out. */
export type QueryValue = string | number | boolean | undefined;

/** The query of an operation. Optional members may be undefined, however strict the compiler is. */
export type Query<Operation extends { query?: unknown }> = OrUndefined<
  NonNullable<Operation["query"]>
>;

type OrUndefined<T> = {
  [Name in keyof T]: T extends Record<Name, unknown> ? T[Name] : T[Name] | undefined;
};

/** A call of one operation, before its request is made. */
export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path below the base URL, with `{name}` for each of `params`. */
  path: string;
  params?: Readonly<Record<string, string | number>>;
  query?: Readonly<Record<string, QueryValue>> | undefined;
  body?: unknown;
  /** The content type of text bodies. Without it, bodies are JSON. */
  textType?: string;
  /** True when the operation takes the header `Idempotency-Key`. */
  keyed?: boolean;
  /** True for a POST that only reads, and other calls whose work may be done twice. */
  repeatable?: boolean;
  /** The member of `data` with a list's items; by default `data` itself. */
  items?: string;
  /** The content type of the answer; JSON by default. */
  accept?: string;
}

/** Options of any call, including those that only some calls have. */
export type AnyOptions = CallOptions &
  IfMatch &
  Idempotent & { query?: Readonly<Record<string, QueryValue>> | undefined };

/** A call that is ready to be sent, once or several times. */
export interface PreparedCall {
  wire: Omit<WireRequest, "signal">;
  /** True when its work may be done twice. */
  isRepeatable: boolean;
}

/** The repeatable methods of HTTP; PATCH is not repeatable. */
const REPEATABLE_METHODS = new Set(["GET", "PUT", "DELETE"]);

/**
 * Prepares the request of a call. All of its tries share one idempotency key.
 * @throws InvalidParameterError when a part of the path is empty or would lead elsewhere
 * @throws TypeError when a header cannot be sent
 */
export function prepare(api: Api, call: Call, options: AnyOptions): PreparedCall {
  const { method, keyed = false, body, textType } = call;
  const headers = toHeaders(options.headers ?? {});
  headers.set("accept", call.accept ?? "application/json");
  if (options.ifMatch !== undefined) headers.set("if-match", options.ifMatch);
  if (keyed && !hasKey(body) && !headers.has("idempotency-key")) {
    headers.set("idempotency-key", options.idempotencyKey ?? newKey());
  }
  const isText = textType !== undefined && typeof body === "string";
  if (body !== undefined) headers.set("content-type", isText ? textType : "application/json");
  const content = body === undefined ? undefined : isText ? body : JSON.stringify(body);
  const url = urlOf(api, call, options);
  const isRepeatable = REPEATABLE_METHODS.has(method) || call.repeatable === true || keyed;
  return { wire: { method, url, headers, body: content }, isRepeatable };
}

function urlOf(api: Api, call: Call, options: AnyOptions): URL {
  const { params = {} } = call;
  const path = call.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name, params[name]));
  const url = new URL(api.baseUrl + path);
  for (const [name, value] of Object.entries({ ...call.query, ...options.query })) {
    if (value !== undefined) url.searchParams.append(name, String(value));
  }
  return url;
}

/** An empty id would address the whole collection, and dots its parent. */
function segment(name: string, value: unknown): string {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || text === "" || text === "." || text === "..") {
    throw new InvalidParameterError(name, "must be a text that is not empty.");
  }
  try {
    return encodeURIComponent(text);
  } catch {
    throw new InvalidParameterError(name, "must not hold half of a character.");
  }
}

/** A key in the body precedes the header's. */
function hasKey(body: unknown): boolean {
  return (
    typeof body === "object" &&
    body !== null &&
    "idempotencyKey" in body &&
    body.idempotencyKey !== undefined
  );
}

/** Pages without https lack `randomUUID`. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
