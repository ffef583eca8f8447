import { expect } from "@jest/globals";
import type { ProviderManifest, ProviderRequest } from "../../src/index.ts";
import type { Exchange, ProviderCases } from "./action-case.ts";

/** The expectations of a case's requests. */
export interface WantedRequest {
  /** The provider's base URL, without a slash at the end. */
  baseUrl: string;
  idempotencyKey: string;
  signature: ProviderCases["signature"];
}

/** The writes that do not accept the provider's keys; they are sent without a key. */
const UNMARKED = ["resend POST /contacts"];

/** Checks method, address, query, credentials, headers, body and the mark of a repeated write. */
export function expectRequest(
  request: ProviderRequest,
  provider: ProviderManifest,
  wanted: Exchange["request"],
  { baseUrl, idempotencyKey, signature }: WantedRequest,
): void {
  const call = `${provider.id} ${wanted.method} ${wanted.path}`;
  const isWrite = request.method !== "GET" && !UNMARKED.includes(call);
  const { idempotencyHeader, idempotencyQuery } = provider;
  const url = new URL(request.url);
  if (idempotencyHeader !== undefined) {
    const mark = isWrite ? idempotencyKey : undefined;
    expect(request.headers[idempotencyHeader.toLowerCase()]).toBe(mark);
  }
  if (isWrite && idempotencyQuery !== undefined) {
    expect(url.searchParams.get(idempotencyQuery.name)).toBe(idempotencyKey);
    url.searchParams.delete(idempotencyQuery.name);
  }
  const base = new URL(baseUrl);
  expect(request.method).toBe(wanted.method);
  expect(url.origin + url.pathname).toBe(base.origin + base.pathname + wanted.path);
  expect(queryOf(url.searchParams)).toEqual(wanted.query ?? {});
  expect(request.headers).toMatchObject({ ...signature.headers, ...wanted.headers });
  expectBody(request, wanted, signature);
}

function expectBody(
  { headers, body }: ProviderRequest,
  wanted: Exchange["request"],
  signature: ProviderCases["signature"],
): void {
  if (wanted.json !== undefined) {
    expect(headers["content-type"]).toMatch(/^application\/([a-z.]+\+)?json/);
    const signed = { ...Object(wanted.json), ...signature.json };
    const expected = signature.json === undefined ? wanted.json : signed;
    expect(JSON.parse(body ?? "")).toEqual(expected);
  } else if (wanted.form !== undefined) {
    expect(headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual(wanted.form);
  } else if (typeof wanted.text === "function") {
    wanted.text(body ?? "");
  } else {
    expect(body).toBe(wanted.text);
  }
}

/** Several values of one name become a list. */
function queryOf(params: URLSearchParams): Record<string, string | string[]> {
  return Object.fromEntries(
    [...new Set(params.keys())].map((name) => {
      const values = params.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? "") : values];
    }),
  );
}
