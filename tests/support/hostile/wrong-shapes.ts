import type { Route } from "@workflow/service-gateway/routes";
import type { ApiDocument } from "../api-document.ts";
import { placeIn, placesOf, sampleIn, withoutPlace } from "../body-positions.ts";
import { NO_OBJECTS } from "../hostile-values.ts";
import type { LiveRequest } from "../live-requests.ts";
import { addressOf, textOf, unchanged } from "./attacks.ts";
import type { Attack, Write, WrittenRequest } from "./attacks.ts";
import type { DescribedRequests } from "./described-requests.ts";

/** What tells whether a request has the described shape. */
interface Descriptions {
  readonly document: ApiDocument;
  readonly described: DescribedRequests;
}

/**
 * Requests of another shape than the described one: bodies that are no JSON object, each field with a value of a
 * wrong type, each field that is needed left out, and names that the route does not know.
 */
export function wrongShapesOf(
  descriptions: Descriptions,
  route: Route,
  live: LiveRequest,
): Attack[] {
  return [
    ...wholeBodies(route),
    ...mistypedFields(descriptions, route, live),
    ...mistypedParameters(descriptions, route, live),
    ...unknownNames(route),
  ];
}

/** Bodies of GET and DELETE are not read. */
function hasBody({ method }: Route): boolean {
  return method !== "GET" && method !== "DELETE";
}

function wholeBodies(route: Route): Attack[] {
  if (!hasBody(route)) return [];
  const toAttack = (what: string, change: (live: LiveRequest) => Partial<WrittenRequest>) => ({
    route,
    name: `whole body: ${what}`,
    place: null,
    isAlwaysWrong: true as const,
    toRequest: (live: LiveRequest) => ({
      path: addressOf(route, live),
      body: textOf(live.body ?? {}),
      ...change(live),
    }),
    toControl: unchanged(route),
  });
  return [
    ...Object.entries(NO_OBJECTS).map(([what, body]) => toAttack(what, () => ({ body }))),
    toAttack("another content type", ({ headers }) => ({
      headers: { ...headers, "content-type": "application/xml" },
    })),
    ...(route.body.optional ? [] : [toAttack("none", () => ({ body: undefined }))]),
  ];
}

/** Values that are described for no place, but for others. */
const OF_EACH_TYPE = ['"x"', "7", "true", "[]", "{}", "null"];

/** Each field with a value that it is not described to have, and without it where it is described to be needed. */
function mistypedFields(
  { document, described }: Descriptions,
  route: Route,
  live: LiveRequest,
): Attack[] {
  const { body: schema } = document.operationOf(route);
  if (schema === undefined) return [];
  return placesOf(document, schema, live.body).flatMap((place, field) => {
    const writeWith = (json: string) => (given: LiveRequest) => ({
      path: addressOf(route, given),
      body: placeIn(document, schema, given.body, { place, json }),
    });
    const sample: Write = (given) => ({
      path: addressOf(route, given),
      body: sampleIn(document, schema, given.body, place),
    });
    const without: Write = (given) => {
      const { path, body = "" } = sample(given);
      return { path, body: withoutPlace(body, place) };
    };
    const isWrong = (write: Write): boolean => described.refuse(route, write(live));
    // What is wrong already tells nothing of the place.
    if (isWrong(sample)) return [];
    const types = OF_EACH_TYPE.map((_, index) => OF_EACH_TYPE[(index + field) % 6] ?? "null");
    const wrong = types.find((json) => isWrong(writeWith(json)));
    const name = `body ${place.join(".")}`;
    const attack = { route, place, toControl: sample };
    return [
      ...(wrong === undefined
        ? []
        : [{ ...attack, name: `${name}: the wrong type ${wrong}`, toRequest: writeWith(wrong) }]),
      ...(isWrong(without) ? [{ ...attack, name: `${name}: missing`, toRequest: without }] : []),
    ];
  });
}

/** Texts that are described for no parameter, but for others. */
const TEXTS = ["no such value", "-1", "0.5", "true", ""];

/** Each parameter of the query with a text that it is not described to have. */
function mistypedParameters(
  { document, described }: Descriptions,
  route: Route,
  live: LiveRequest,
): Attack[] {
  const { parameters } = document.operationOf(route);
  const names = parameters.filter((each) => each.in === "query").map(({ name }) => name);
  return names.flatMap((name) => {
    const writeWith = (value: string) => (given: LiveRequest) => ({
      path: addressOf(route, given, {
        query: { name, text: `${name}=${encodeURIComponent(value)}` },
      }),
      body: textOf(given.body),
    });
    const wrong = TEXTS.filter((value) => described.refuse(route, writeWith(value)(live)));
    const attack = { route, place: [name], toControl: unchanged(route) };
    return wrong.map((value) => ({
      ...attack,
      name: `query ${name}: the wrong value '${value}'`,
      toRequest: writeWith(value),
    }));
  });
}

/** A name that no route knows is ignored, or the refusal names it. */
function unknownNames(route: Route): Attack[] {
  const name = "not-a-name";
  const attack = { route, place: [name], toControl: unchanged(route) };
  const inQuery = {
    ...attack,
    name: `query ${name}: unknown`,
    toRequest: (live: LiveRequest) => ({
      path: addressOf(route, live, { query: { name, text: `${name}=1` } }),
      body: textOf(live.body),
    }),
  };
  const inBody = {
    ...attack,
    name: `body ${name}: unknown`,
    toRequest: (live: LiveRequest) => ({
      path: addressOf(route, live),
      body: JSON.stringify({ ...Object(live.body), [name]: 1 }),
    }),
  };
  return hasBody(route) ? [inQuery, inBody] : [inQuery];
}
