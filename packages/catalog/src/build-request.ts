import { createHash } from "node:crypto";
import { isJsonObject } from "@workflow/json";
import { findIgnoredKeys, inputsOf } from "./check-inputs.ts";
import { encodeForm } from "./encode-form.ts";
import { fill, MissingFieldError, patternValues, placeholdersOf } from "./fill-pattern.ts";
import { InvalidInputError } from "./invalid-input-error.ts";
import { readPath, writePath } from "./json-path.ts";
import { encodeSegment } from "./path-segment.ts";
import { uuidOf } from "./uuid-of.ts";
import type {
  ActionManifest,
  ConnectionAccess,
  ConnectionFields,
  ProviderManifest,
  QueryValue,
  RequestParts,
} from "./provider-manifest.ts";

/** A request that is ready to be sent. */
export interface ProviderRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** An answer names a next request to a host that is not the provider's. */
export class ForeignUrlError extends Error {
  override readonly name = "ForeignUrlError";
}

/** A step's call, with resolved and checked inputs. */
export interface ActionCall {
  inputs: Readonly<Record<string, unknown>>;
  access: ConnectionAccess;
  /** Replaces the provider's base URL, for a sandbox or a test. */
  baseUrl?: string | undefined;
  /** The idempotency key, equal for every attempt of a step. */
  idempotencyKey?: string | undefined;
}

/**
 * The parts of a request that follow from an action's declarations.
 *
 * @throws InvalidInputError, MissingFieldError
 */
export async function buildParts(
  action: ActionManifest,
  inputs: Readonly<Record<string, unknown>>,
  fields: ConnectionFields,
  idempotencyKey?: string,
): Promise<RequestParts> {
  const { request } = action;
  const ignored = findIgnoredKeys(action, inputs);
  const given = inputsOf(action).filter(({ key }) => isGiven(key, inputs) && !ignored.has(key));
  // Unknown keys and values without effect are not sent, and `build` does not see them.
  const applied = Object.fromEntries(given.map(({ key }) => [key, inputs[key]]));
  let body: Record<string, unknown> = {};
  const parts: RequestParts = {
    method: request.method,
    path: fillPath(request.path, applied, fields),
    query: { ...request.query },
    headers: { ...request.headers },
    body: undefined,
  };
  const inPath = new Set(placeholdersOf(request.path));
  for (const input of given) {
    const value = joined(inputs[input.key], input.join);
    const place = inPath.has(input.key) ? "path" : (input.in ?? defaultPlace(request.method));
    const name = input.as ?? input.key;
    if (place === "query") parts.query[name] = toQueryValue(value);
    else if (place === "header") parts.headers[name.toLowerCase()] = String(value);
    else if (place === "body") body = withMember(body, name, value);
  }
  const hasBody = Object.keys(body).length > 0 || takesBody(request.method);
  if (hasBody)
    parts.body = request.bodyMember === undefined ? body : { [request.bodyMember]: body };
  return request.build === undefined
    ? parts
    : request.build({ parts, inputs: applied, fields, idempotencyKey });
}

function joined(value: unknown, separator: string | undefined): unknown {
  if (separator === undefined || !Array.isArray(value)) return value;
  return value.map(toScalar).join(separator);
}

/** Members are merged into existing objects. An empty name merges an object into the body. */
function withMember(
  body: Record<string, unknown>,
  name: string,
  value: unknown,
): Record<string, unknown> {
  if (!isJsonObject(value)) writePath(body, name, value);
  else if (name === "") return { ...body, ...value };
  else {
    const there = readPath(body, name);
    writePath(body, name, isJsonObject(there) ? { ...there, ...value } : { ...value });
  }
  return body;
}

/**
 * Completes the request: base URL, credentials, headers and body.
 *
 * @throws MissingFieldError when the connection lacks a field or a credential
 */
export function finishRequest(
  provider: ProviderManifest,
  action: Pick<
    ActionManifest["request"],
    "bodyType" | "idempotencyMember" | "ignoresIdempotencyKey"
  >,
  parts: RequestParts,
  { access, baseUrl, idempotencyKey }: Omit<ActionCall, "inputs">,
): ProviderRequest {
  const values = patternValues(access);
  const { sign } = provider;
  const url = new URL(absoluteUrl(parts.path, baseUrl ?? baseUrlOf(provider, access)));
  const query = { ...parts.query, ...fillAll(sign.query, values) };
  const { idempotencyHeader, idempotencyQuery } = provider;
  const isMarked = parts.method !== "GET" && action.ignoresIdempotencyKey !== true;
  const mark = isMarked ? idempotencyKey : undefined;
  if (mark !== undefined && idempotencyQuery !== undefined) {
    query[idempotencyQuery.name] = shorten(mark, idempotencyQuery.max);
  }
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      url.searchParams.append(name, String(each));
    }
  }
  const headers: Record<string, string> = {
    accept: "application/json",
    ...lowerCase(fillAll(provider.headers, values)),
    ...lowerCase(parts.headers),
    ...lowerCase(fillAll(sign.headers, values)),
  };
  if (sign.basic !== undefined) {
    const [user, password] = sign.basic.map((pattern) => fill(pattern, values));
    headers["authorization"] = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  }
  if (mark !== undefined && idempotencyHeader !== undefined) {
    headers[idempotencyHeader.toLowerCase()] = shorten(mark, KEY_CHARS_MAX);
  }
  const bodyType = action.bodyType ?? provider.bodyType ?? "json";
  const signed = signBody(parts.body, fillAll(sign.body, values));
  const body = encodeBody(markBody(signed, action.idempotencyMember, idempotencyKey), bodyType);
  if (body !== undefined) headers["content-type"] ??= CONTENT_TYPES[bodyType];
  return { method: parts.method, url: url.href, headers, body };
}

/** The length of a key that every provider with such a header accepts. */
const KEY_CHARS_MAX = 255;

/** A key that is too long or not printable ASCII is sent as its hash, which is as unique. */
function shorten(key: string, max: number): string {
  if (key.length <= max && /^[\x21-\x7e]+$/.test(key)) return key;
  return createHash("sha256").update(key).digest("base64url").slice(0, max);
}

const CONTENT_TYPES = { json: "application/json", form: "application/x-www-form-urlencoded" };

/** The base URL of a connection's account, without a slash at the end. */
export function baseUrlOf(provider: ProviderManifest, access: ConnectionAccess): string {
  const { baseUrl } = provider;
  const wrong = fieldProblem(provider, access.fields);
  if (wrong !== null) {
    throw new MissingFieldError(`The connection's ${wrong} is not one of ${provider.name}'s.`);
  }
  const pattern = typeof baseUrl === "function" ? baseUrl(access.fields) : baseUrl;
  return fill(pattern, access.fields).replace(/\/+$/, "");
}

/** The field of a connection that does not have the form of the provider's fields; null when all do. */
export function fieldProblem(
  { fieldForms = {} }: Pick<ProviderManifest, "fieldForms">,
  fields: ConnectionFields,
): string | null {
  const names = Object.keys(fieldForms);
  return (
    names.find((name) => {
      const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return value !== undefined && fieldForms[name]?.test(value) === false;
    }) ?? null
  );
}

/** The address of a page comes from an answer, so credentials go to the provider's host only. */
function absoluteUrl(path: string, base: string): string {
  if (!/^[a-z]+:|^\/\//i.test(path)) return base.replace(/\/+$/, "") + path;
  if (URL.parse(path)?.origin === new URL(base).origin) return path;
  throw new ForeignUrlError("The provider names an address of another host for the next page.");
}

/** An empty text and null count as not given. */
function isGiven(key: string, inputs: Readonly<Record<string, unknown>>): boolean {
  const value = Object.hasOwn(inputs, key) ? inputs[key] : undefined;
  return value !== undefined && value !== null && value !== "";
}

function fillPath(
  path: string,
  inputs: Readonly<Record<string, unknown>>,
  fields: ConnectionFields,
): string {
  const values: Record<string, string> = {};
  for (const key of placeholdersOf(path)) {
    const value = Object.hasOwn(inputs, key) ? inputs[key] : undefined;
    if (value !== undefined && value !== null) {
      values[key] = encodeSegment(key, String(toScalar(value)));
    } else if (Object.hasOwn(fields, key)) {
      values[key] = encodeField(key, fields[key] ?? "");
    }
  }
  return fill(path, values);
}

/**
 * A connection's field in a path. A missing one is no fault of the step's inputs.
 *
 * @throws MissingFieldError
 */
function encodeField(name: string, value: string): string {
  if (value === "") return "";
  try {
    return encodeSegment(name, value);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new MissingFieldError(`The connection's ${name} ${error.message}.`);
  }
}

function defaultPlace(method: RequestParts["method"]): "query" | "body" {
  return method === "GET" || method === "DELETE" ? "query" : "body";
}

function takesBody(method: RequestParts["method"]): boolean {
  return method !== "GET" && method !== "DELETE";
}

function toQueryValue(value: unknown): QueryValue {
  if (Array.isArray(value)) return value.map(toScalar);
  return toScalar(value);
}

function toScalar(value: unknown): string | number | boolean {
  if (typeof value === "number" || typeof value === "boolean") return value;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function fillAll(
  patterns: Readonly<Record<string, string>> | undefined,
  values: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(patterns ?? {}).map(([name, pattern]) => [name, fill(pattern, values)]),
  );
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function signBody(body: unknown, members: Record<string, string>): unknown {
  if (Object.keys(members).length === 0) return body;
  return isJsonObject(body) || body === undefined ? { ...body, ...members } : body;
}

/** Adds the idempotency member to the body; an input of this name takes precedence. */
function markBody(body: unknown, member: string | undefined, key: string | undefined): unknown {
  if (member === undefined || key === undefined || !isJsonObject(body)) return body;
  return { [member]: uuidOf(key), ...body };
}

function encodeBody(body: unknown, type: "json" | "form"): string | undefined {
  if (body === undefined) return undefined;
  if (typeof body === "string") return body;
  return type === "json" ? JSON.stringify(body) : encodeForm(body);
}
