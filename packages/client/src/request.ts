import { toHeaders } from "./api.ts";
import type { CallOptions, Api, Idempotent, IfMatch, WireRequest } from "./api.ts";
import { InvalidParameterError } from "./errors.ts";

/** What a query parameter may be; those that are undefined are left out. */
export type QueryValue = string | number | boolean | undefined;

/** The query of an operation. What may be left out may be undefined as well, however strict the compiler is. */
export type Query<Operation extends { query?: unknown }> = OrUndefined<
  NonNullable<Operation["query"]>
>;

type OrUndefined<T> = {
  [Name in keyof T]: T extends Record<Name, unknown> ? T[Name] : T[Name] | undefined;
};

/** A call of one operation, before it is put into words. */
export interface Call {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base URL, with `{name}` for each of `params`. */
  path: string;
  params?: Readonly<Record<string, string | number>>;
  query?: Readonly<Record<string, QueryValue>> | undefined;
  body?: unknown;
  /** The type of bodies that are texts; without one they are JSON like all others. */
  textType?: string;
  /** The operation takes the header `Idempotency-Key`. */
  keyed?: boolean;
  /** A POST that only reads, or another call whose work may be done twice. */
  repeatable?: boolean;
  /** The member of `data` that a list's items are in; `data` itself without one. */
  items?: string;
  /** The answer's type; JSON by default. */
  accept?: string;
}

/** Options of any call, with those that only some calls have. */
export type AnyOptions = CallOptions &
  IfMatch &
  Idempotent & { query?: Readonly<Record<string, QueryValue>> | undefined };

/** A call that is ready to be sent, as often as it takes. */
export interface PreparedCall {
  wire: Omit<WireRequest, "signal">;
  /** Whether doing its work twice is as good as once. */
  isRepeatable: boolean;
}

/** By HTTP; PATCH is none of them. */
const REPEATABLE_METHODS = new Set(["GET", "PUT", "DELETE"]);

/**
 * Makes the request of a call. All of its tries share the idempotency key that is made here.
 *
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

/** An empty id would make the call one of the whole collection, and dots one of its parent. */
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

/** The body's key goes before the header's. */
function hasKey(body: unknown): boolean {
  return (
    typeof body === "object" &&
    body !== null &&
    "idempotencyKey" in body &&
    body.idempotencyKey !== undefined
  );
}

/** Not `randomUUID`, which pages without https lack. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
