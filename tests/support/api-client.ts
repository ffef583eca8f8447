import { expect } from "@jest/globals";
import { z } from "zod";

/** The parts of a request beside method and address. */
export interface CallOptions {
  /** The value of `x-api-key`; null sends none. */
  key?: string | null;
  /** The body as a value, sent as JSON. */
  body?: unknown;
  /** The body as text, in place of `body`. */
  raw?: string | Uint8Array<ArrayBuffer>;
  /** Headers, which override those of the client. */
  headers?: Readonly<Record<string, string>>;
}

/** An answer whose envelope was checked. */
export interface Answer {
  status: number;
  headers: Headers;
  /** The body as text. */
  text: string;
  /** The data; undefined in an error. */
  data: unknown;
  /** The `meta` of a list with a cursor. */
  meta: z.output<typeof pageMeta> | undefined;
  /** The `meta` of a page of rows. */
  rowsMeta: z.output<typeof rowsMeta> | undefined;
  /** The error; undefined in a success. */
  error: z.output<typeof errorBody> | undefined;
}

const pageMeta = z.strictObject({ cursor: z.string().nullable(), hasMore: z.boolean() });

const rowsMeta = z.strictObject({
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
  hasMore: z.boolean(),
});

const errorBody = z.strictObject({
  code: z.string().regex(/^[A-Z]+(?:_[A-Z]+)*$/),
  message: z.string().min(1),
  details: z.unknown().optional(),
  requestId: z.string().min(1),
});

const envelope = z.discriminatedUnion("success", [
  z.strictObject({
    success: z.literal(true),
    data: z.unknown(),
    meta: z.union([pageMeta, rowsMeta]).optional(),
  }),
  z.strictObject({ success: z.literal(false), error: errorBody }),
]);

/** The relations that every response advertises (D8). */
const LINK =
  '</.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json", ' +
  '</api/v1/openapi.json>; rel="service-desc"; type="application/vnd.oai.openapi+json;version=3.1", ' +
  '</docs>; rel="service-doc"; type="text/html"';

/**
 * Sends a request and checks the promises of the contract about every answer: JSON in one of the two envelopes,
 * `Link`, and a request id that an error repeats. A HEAD has no body to check.
 */
export async function callApi(
  address: string,
  method: string,
  { key = null, body, raw, headers = {} }: CallOptions,
): Promise<Answer> {
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(address, {
    method,
    redirect: "manual",
    headers: {
      ...(key === null ? {} : { "x-api-key": key }),
      ...(content === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
  });
  const text = await response.text();
  expect(response.headers.get("link")).toBe(LINK);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  const requestId = response.headers.get("x-request-id");
  expect(requestId).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  const { status } = response;
  if (method === "HEAD") {
    expect(text).toBe("");
    return { status, headers: response.headers, text, ...NOTHING };
  }
  const parsed = envelope.parse(JSON.parse(text));
  expect(parsed.success).toBe(status < 400);
  if (!parsed.success) expect(parsed.error.requestId).toBe(requestId);
  return {
    status,
    headers: response.headers,
    text,
    ...(parsed.success
      ? { data: parsed.data, ...metaOf(parsed.meta), error: undefined }
      : { ...NOTHING, error: parsed.error }),
  };
}

const NOTHING = { data: undefined, meta: undefined, rowsMeta: undefined, error: undefined };

function metaOf(meta: z.output<typeof pageMeta> | z.output<typeof rowsMeta> | undefined) {
  return meta !== undefined && "total" in meta
    ? { meta: undefined, rowsMeta: meta }
    : { meta, rowsMeta: undefined };
}
