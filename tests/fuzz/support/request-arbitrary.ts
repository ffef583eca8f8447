import { fc } from "@workflow/testkit/property-test";
import type { ApiDocument, Operation } from "../../support/api-document.ts";
import { placeIn, placesOf } from "../../support/body-positions.ts";
import { HOSTILE_QUERIES, HOSTILE_SEGMENTS, HOSTILE_VALUES } from "../../support/hostile-values.ts";
import { pathOf } from "../../support/live-requests.ts";
import type { LiveRequest } from "../../support/live-requests.ts";
import type { RawRequest } from "../../support/raw-requests.ts";
import { arbitraryOf } from "./arbitraries.ts";

/**
 * A request that is still to be told which objects there are: the same seed gives the same requests, however
 * the ids of a system turn out.
 */
export interface DraftedRequest {
  toRequest: (live: LiveRequest) => RawRequest;
}

/** A query parameter, a segment of a path, a member of a body: what it is in place of the good one. */
interface Draft {
  readonly segments: Readonly<Record<string, string | null>>;
  /** By the names of parameters; in place of all parameters of the good request. */
  readonly query: Readonly<Record<string, string | null>> | null;
  readonly body: BodyDraft;
  readonly headers: Readonly<Record<string, string>>;
}

interface BodyDraft {
  /** Whose members are sent: those of the good request, those of the schema, or both. */
  readonly base: "live" | "schema" | "both";
  readonly value: unknown;
  /** Which of the places gets a hostile value, and which; null: none. */
  readonly hostile: { readonly place: number; readonly json: string } | null;
  /** Sent in place of all that. */
  readonly raw: string | null;
}

/** Requests of an operation: good ones for the most part, and hostile ones. */
export function requestOf(
  document: ApiDocument,
  operation: Operation,
): fc.Arbitrary<DraftedRequest> {
  return fc
    .record<Draft>({
      segments: segmentsOf(operation),
      query: queryOf(document, operation),
      body: bodyOf(document, operation),
      headers: HEADERS,
    })
    .map((draft) => ({
      toRequest: (live) => toRequest(document, operation, draft, live),
      [fc.toStringMethod]: () => JSON.stringify(draft).slice(0, 4_000),
    }));
}

/** One of eight segments is not the id of the good request. */
function segmentsOf({ route }: Operation): fc.Arbitrary<Draft["segments"]> {
  const other = fc.oneof(
    fc.constantFrom(...Object.values(HOSTILE_SEGMENTS)),
    fc.string({ minLength: 1 }).map((text) => encodeURIComponent(text.toWellFormed())),
    fc.uuid(),
  );
  const one = orNull(other, 1, 7);
  const names = Object.keys(route.params).map((name) => [name, one]);
  return fc.record(Object.fromEntries(names));
}

function queryOf(document: ApiDocument, { parameters }: Operation): fc.Arbitrary<Draft["query"]> {
  const named = parameters
    .filter((parameter) => parameter.in === "query")
    .map(({ name, schema }) => {
      const good = arbitraryOf(schema, document.resolve).map(
        (value) => `${name}=${encodeURIComponent(asText(value))}`,
      );
      const hostile = fc
        .constantFrom(...Object.values(HOSTILE_QUERIES))
        .map((write) => write(encodeURIComponent(name)));
      const some = fc.oneof({ weight: 6, arbitrary: good }, { weight: 1, arbitrary: hostile });
      return [name, orNull(some, 1, 1)];
    });
  return orNull(fc.record(Object.fromEntries(named)), 3, 1);
}

function bodyOf({ resolve }: ApiDocument, { body }: Operation): fc.Arbitrary<BodyDraft> {
  const hostile = fc.record({
    place: fc.nat(),
    json: fc.constantFrom(...HOSTILE_VALUES.map(({ json }) => json)),
  });
  return fc.record<BodyDraft>({
    base: fc.constantFrom("live", "schema", "both"),
    value: body === undefined ? fc.constant({}) : arbitraryOf(body, resolve),
    hostile: orNull(hostile, 1, 1),
    raw: orNull(fc.oneof(fc.string(), fc.json()), 1, 30),
  });
}

/** So often a value, so often null. */
function orNull<T>(arbitrary: fc.Arbitrary<T>, weight: number, ofNull: number) {
  return fc.oneof({ weight, arbitrary }, { weight: ofNull, arbitrary: fc.constant(null) });
}

const HEADERS: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { "x-request-id": "x".repeat(129) },
      { traceparent: "00-0-0-00" },
      { "if-match": '"1"' },
      { "if-none-match": "*" },
      { "idempotency-key": "k".repeat(300) },
      { "content-type": "text/plain" },
      { "content-type": "application/json; charset=utf-16" },
      { accept: "image/png" },
    ),
  },
);

function toRequest(
  document: ApiDocument,
  { route, body: schema }: Operation,
  { segments, query, body, headers }: Draft,
  live: LiveRequest,
): RawRequest {
  const values = Object.entries(segments).map(([name, text]) => [
    name,
    text ?? encodeURIComponent(live.params[name] ?? ""),
  ]);
  const pairs = query === null ? [live.query] : Object.values(query);
  const search = pairs.filter((pair) => pair !== null && pair !== "").join("&");
  const path = pathOf(route, Object.fromEntries(values));
  return {
    method: route.method,
    path: search === "" ? path : `${path}?${search}`,
    headers: { ...live.headers, ...headers },
    body: schema === undefined ? undefined : textOf(document, schema, body, live),
  };
}

function textOf(
  document: ApiDocument,
  schema: NonNullable<Operation["body"]>,
  { base, value, hostile, raw }: BodyDraft,
  live: LiveRequest,
): string {
  if (raw !== null) return raw;
  const members = Object.assign(
    {},
    base === "schema" ? null : live.body,
    base === "live" ? null : value,
  );
  if (hostile === null) return JSON.stringify(members);
  const places = placesOf(document, schema, members);
  const place = places[hostile.place % places.length];
  if (place === undefined) return JSON.stringify(members);
  return placeIn(document, schema, members, { place, json: hostile.json });
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
