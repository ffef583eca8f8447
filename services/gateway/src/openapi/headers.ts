import type { oas31 } from "zod-openapi";
import type { ResponseDeclaration } from "../route-declaration.ts";
import type { Route } from "../route-table-entry.ts";
import { isConditionalRead } from "./conditions.ts";

type Header = oas31.HeaderObject;
type Headers = Record<string, oas31.ReferenceObject>;

/** The headers of answers, each described once. */
export const HEADERS = {
  "X-Request-Id": {
    description:
      "The request's id: the caller's own `X-Request-Id`, or a new one. Errors repeat it.",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9._-]{1,128}$" },
    example: "5f0d3c9e-4a0b-4d7c-9a57-0b1f6f1f2f10",
  },
  Link: {
    description: "Where this description, the API catalog (RFC 9727) and the documentation are.",
    required: true,
    schema: { type: "string" },
    example: '</.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json"',
  },
  "X-RateLimit-Limit": {
    description:
      "How many requests a minute the caller may send in the operation's bucket. Like the other headers of rate limits it is left out where no limit is set.",
    schema: { type: "integer", minimum: 1 },
    examples: { read: { value: 1000 }, write: { value: 100 }, execute: { value: 500 } },
  },
  "X-RateLimit-Remaining": {
    description: "How many of them are left.",
    schema: { type: "integer", minimum: 0 },
    example: 98,
  },
  "X-RateLimit-Reset": {
    description: "When the window is empty again, in seconds since 1970.",
    schema: { type: "integer" },
    example: 1769846400,
  },
  RateLimit: {
    description: "What is left, in the form of draft-ietf-httpapi-ratelimit-headers.",
    schema: { type: "string" },
    examples: {
      read: { value: '"read";r=998;t=60' },
      write: { value: '"write";r=98;t=60' },
      execute: { value: '"execute";r=498;t=60' },
    },
  },
  "RateLimit-Policy": {
    description: "The limit, in the form of draft-ietf-httpapi-ratelimit-headers.",
    schema: { type: "string" },
    examples: {
      read: { value: '"read";q=1000;w=60' },
      write: { value: '"write";q=100;w=60' },
      execute: { value: '"execute";q=500;w=60' },
    },
  },
  "Retry-After": {
    description: "How many seconds to wait before the request is repeated.",
    schema: { type: "integer", minimum: 1 },
    example: 1,
  },
  ETag: {
    description: "Names this state of the object, for `If-None-Match` and `If-Match`.",
    schema: { type: "string" },
    example: '"3-1-active"',
  },
  Location: {
    description: "Where the person goes on.",
    required: true,
    schema: { type: "string", format: "uri" },
    example:
      "https://app.example.com/connected?success=true&provider=stripe&connectionId=conn_01kg9d1kzcexw9f1c3f4r7m2qa",
  },
  "Set-Cookie": {
    description: "The session's cookie `wfs_session`, or its end. HttpOnly, SameSite=Lax.",
    schema: { type: "string" },
    example: "wfs_session=…; Path=/; HttpOnly; SameSite=Lax",
  },
  "Content-Disposition": {
    description: "The name to save the file under (RFC 6266).",
    required: true,
    schema: { type: "string" },
    example: "attachment; filename=\"Orders.csv\"; filename*=UTF-8''Orders.csv",
  },
} as const satisfies Record<string, Header>;

type HeaderName = keyof typeof HEADERS;

const ALWAYS: readonly HeaderName[] = ["X-Request-Id", "Link"];
const OF_LIMITS: readonly HeaderName[] = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy",
];

/** The headers of an operation's success. */
export function successHeaders(route: Route, { headers = [] }: ResponseDeclaration): Headers {
  const isFile = route.contentTypes.includes("text/csv");
  return references([
    ...ALWAYS,
    ...(route.scope === "everybody" ? [] : OF_LIMITS),
    ...(isConditionalRead(route) && !headers.includes("ETag") ? (["ETag"] as const) : []),
    ...(isFile ? (["Content-Disposition"] as const) : []),
    ...headers,
  ]);
}

/** The headers of an error. Those of rate limits are part of every answer to a known caller. */
export function errorHeaders(status: number): Headers {
  const waits = status === 429 || status === 502 || status === 503;
  return references([
    ...ALWAYS,
    ...(status === 401 ? [] : OF_LIMITS),
    ...(waits ? (["Retry-After"] as const) : []),
  ]);
}

/** The headers of a 304 answer. */
export function notModifiedHeaders(): Headers {
  return references([...ALWAYS, "ETag", ...OF_LIMITS]);
}

/** References to these headers. */
export function references(names: readonly HeaderName[]): Headers {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
