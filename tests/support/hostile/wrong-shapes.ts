import type { Route } from "@workflow/service-gateway/routes";
import type { ApiDocument } from "../api-document.ts";
import { placeIn, sampleIn, withoutPlace } from "../body-positions.ts";
import { NO_OBJECTS } from "../hostile-values.ts";
import type { LiveRequest } from "../live-requests.ts";
import { addressOf, textOf, unchanged } from "./attacks.ts";
import type { Attack, Write, WrittenRequest } from "./attacks.ts";
import { fieldsOf, keyOf } from "./described-forms.ts";
import type { FormField } from "./described-forms.ts";
import type { DescribedRequests } from "./described-requests.ts";

/** What tells whether a request has the described shape. */
export interface Descriptions {
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

/**
 * Each field with a value that it is not described to have, and without it where it is described to be needed. A field
 * that several forms of a value share is tried in one of them.
 */
function mistypedFields(descriptions: Descriptions, route: Route, live: LiveRequest): Attack[] {
  const found = attacksByField(descriptions, route, live);
  return [...found.values()].flatMap(({ attacks }) => attacks ?? []);
}

/** The places of a route's body that no request can try, since its description allows no good value there. */
export function untriedFields(
  descriptions: Descriptions,
  route: Route,
  live: LiveRequest,
): readonly string[] {
  const found = attacksByField(descriptions, route, live);
  return [...found.values()].flatMap(({ name, attacks }) => (attacks === null ? [name] : []));
}

/** The place of a field, and the attacks on it: null where even a value of the described kind is wrong. */
interface TriedField {
  readonly name: string;
  readonly attacks: Attack[] | null;
}

function attacksByField(
  descriptions: Descriptions,
  route: Route,
  live: LiveRequest,
): Map<string, TriedField> {
  const { document } = descriptions;
  const { body: schema } = document.operationOf(route);
  const found = new Map<string, TriedField>();
  if (schema === undefined) return found;
  for (const field of fieldsOf(document, schema)) {
    const key = keyOf(field);
    if ((found.get(key)?.attacks ?? null) !== null) continue;
    const name = [...field.form.place, ...field.place].join(".");
    const numbered = { ...field, number: found.size };
    found.set(key, { name, attacks: attacksOnField(descriptions, route, live, numbered) });
  }
  return found;
}

/** The number decides which of several wrong values is tried. */
type NumberedField = FormField & { readonly number: number };

/** Null where even a value of the described kind is wrong: that tells nothing of the place. */
function attacksOnField(
  { document, described }: Descriptions,
  route: Route,
  live: LiveRequest,
  { form, place, number }: NumberedField,
): Attack[] | null {
  const { schema } = form;
  const writer =
    (toText: (value: unknown) => string): Write =>
    (given) => ({
      path: addressOf(route, given),
      body: form.write(given.body, toText(form.valueIn(given.body))),
    });
  const writeWith = (json: string): Write =>
    writer((value) => placeIn(document, schema, value, { place, json }));
  const sample = writer((value) => sampleIn(document, schema, value, place));
  const without = writer((value) => withoutPlace(sampleIn(document, schema, value, place), place));
  const isWrong = (write: Write): boolean => described.refuse(route, write(live));
  if (isWrong(sample)) return null;
  const types = OF_EACH_TYPE.map((_, index) => OF_EACH_TYPE[(index + number) % 6] ?? "null");
  const wrong = types.find((json) => isWrong(writeWith(json)));
  const whole = [...form.place, ...place];
  const name = `body ${whole.join(".")}${form.name}`;
  const attack = { route, place: whole, toControl: sample };
  return [
    ...(wrong === undefined
      ? []
      : [{ ...attack, name: `${name}: the wrong type ${wrong}`, toRequest: writeWith(wrong) }]),
    ...(isWrong(without) ? [{ ...attack, name: `${name}: missing`, toRequest: without }] : []),
  ];
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
