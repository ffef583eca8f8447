import type { Route } from "@workflow/service-gateway/routes";
import type { ApiDocument } from "../api-document.ts";
import { placeIn, placesOf, sampleIn } from "../body-positions.ts";
import {
  HOSTILE_HEADERS,
  HOSTILE_QUERIES,
  HOSTILE_SEGMENTS,
  HOSTILE_VALUES,
} from "../hostile-values.ts";
import { pathOf } from "../live-requests.ts";
import type { LiveRequest } from "../live-requests.ts";

/** The content of one request, apart from the objects that it names. */
export interface Attack {
  readonly route: Route;
  /** The name, such as `body steps.0.id: NUL`. */
  readonly name: string;
  /**
   * The place of the hostile value, which a refusal has to name; null where the attack is about no field.
   */
  readonly place: readonly string[] | null;
  /** Whether no request of this kind may be taken, whatever the description says of it. */
  readonly isAlwaysWrong?: true;
  readonly toRequest: Write;
  /** The same request without anything hostile. */
  readonly toControl: Write;
}

/** Writes a request with the objects that exist. */
export type Write = (live: LiveRequest) => WrittenRequest;

/** The parts of a request that an attack decides about. */
export interface WrittenRequest {
  path: string;
  body: string | undefined;
  /** In place of those of the good request. */
  headers?: Readonly<Record<string, string>>;
}

/**
 * Each field gets one in this many values, and the next field the next ones. `HOSTILE=all` tries all on each.
 */
export const SHARE = process.env["HOSTILE"] === "all" ? 1 : 4;

function shareOf<Value>(values: readonly Value[], field: number): readonly Value[] {
  return values.filter((_, index) => (index + field) % SHARE === 0);
}

/** Every place of a request with hostile values. */
export function attacksOn(document: ApiDocument, route: Route, live: LiveRequest): Attack[] {
  return [
    ...pathAttacks(route),
    ...queryAttacks(document, route),
    ...headerAttacks(document, route),
    ...bodyAttacks(document, route, live),
  ];
}

function pathAttacks(route: Route): Attack[] {
  return Object.keys(route.params).flatMap((name) =>
    Object.entries(HOSTILE_SEGMENTS).map(([what, segment]) => ({
      route,
      name: `path ${name}: ${what}`,
      place: null,
      toRequest: (live: LiveRequest) => ({
        path: addressOf(route, live, { params: { [name]: segment } }),
        body: textOf(live.body),
      }),
      toControl: unchanged(route),
    })),
  );
}

function queryAttacks(document: ApiDocument, route: Route): Attack[] {
  const { parameters } = document.operationOf(route);
  const names = parameters.filter((each) => each.in === "query").map(({ name }) => name);
  return names.flatMap((name, field) =>
    shareOf(Object.entries(HOSTILE_QUERIES), field).map(([what, write]) => ({
      route,
      name: `query ${name}: ${what}`,
      place: [name],
      toRequest: (live: LiveRequest) => ({
        path: addressOf(route, live, { query: { name, text: write(name) } }),
        body: textOf(live.body),
      }),
      toControl: unchanged(route),
    })),
  );
}

/** Every route has these; the gateway's own tests are about them. */
const HEADERS_OF_ALL = ["X-Request-Id", "traceparent"];

function headerAttacks(document: ApiDocument, route: Route): Attack[] {
  const { parameters } = document.operationOf(route);
  const names = parameters
    .filter((each) => each.in === "header" && !HEADERS_OF_ALL.includes(each.name))
    .map(({ name }) => name);
  return names.flatMap((name, field) =>
    shareOf(Object.entries(HOSTILE_HEADERS), field).map(([what, text]) => ({
      route,
      name: `header ${name}: ${what}`,
      place: [name],
      toRequest: (live: LiveRequest) => ({
        path: addressOf(route, live),
        body: textOf(live.body),
        headers: { ...live.headers, [name.toLowerCase()]: text },
      }),
      toControl: unchanged(route),
    })),
  );
}

function bodyAttacks(document: ApiDocument, route: Route, live: LiveRequest): Attack[] {
  const { body: schema } = document.operationOf(route);
  if (schema === undefined) return [];
  return placesOf(document, schema, live.body).flatMap((place, field) =>
    shareOf(HOSTILE_VALUES, field).map(({ what, json, ofBody = false }) => ({
      route,
      name: `body ${place.join(".")}: ${what}`,
      place: ofBody ? null : place,
      toRequest: (current: LiveRequest) => ({
        path: addressOf(route, current),
        body: placeIn(document, schema, current.body, { place, json }),
      }),
      toControl: (current: LiveRequest) => ({
        path: addressOf(route, current),
        body: sampleIn(document, schema, current.body, place),
      }),
    })),
  );
}

/** Writes the good request. */
export function unchanged(route: Route): Write {
  return (live) => ({ path: addressOf(route, live), body: textOf(live.body) });
}

/** The address of the good request, with some values in place of its own. */
export function addressOf(
  route: Route,
  live: LiveRequest,
  {
    params = {},
    query,
  }: { params?: Record<string, string>; query?: { name: string; text: string } } = {},
): string {
  const encoded = Object.entries(live.params).map(([name, value]) => [
    name,
    encodeURIComponent(value),
  ]);
  const path = pathOf(route, { ...Object.fromEntries(encoded), ...params });
  const others = live.query.split("&").filter((pair) => pair.split("=")[0] !== query?.name);
  const all = [...others, query?.text ?? ""].filter((pair) => pair !== "");
  return all.length === 0 ? path : `${path}?${all.join("&")}`;
}

/** The text of a body; undefined for none. */
export function textOf(body: unknown): string | undefined {
  return body === undefined ? undefined : JSON.stringify(body);
}
