import type { ApiDocument, JsonSchema } from "../api-document.ts";
import { placeIn, sampleOf, wholeAlternativesOf } from "../body-positions.ts";
import type { Place } from "../body-positions.ts";
import { STEP_EXAMPLES } from "../step-examples.ts";

type Document = Pick<ApiDocument, "resolve">;

/** One of the forms that a value may have, such as a step of one type; or the whole body of a request. */
export interface Form {
  /** Behind the name of a place in it: nothing for the body, else the name such as ` as email`. */
  readonly name: string;
  /** The place of the value in the body. */
  readonly place: Place;
  readonly schema: JsonSchema;
  /** A value of this form, in place of that of a body. */
  valueIn(body: unknown): unknown;
  /** The text of a body with this JSON text as the value. */
  write(body: unknown, json: string): string;
}

/** A field that values of a form may have. */
export interface FormField {
  readonly form: Form;
  /** The place in the form's value. */
  readonly place: Place;
  readonly schema: JsonSchema;
}

/** A form and the choices between forms that led to it. */
interface OpenForm extends Form {
  readonly choices: readonly string[];
}

/** Values that have to be right in more ways than their schema says, by the type that they name. */
const GOOD_VALUES: Readonly<Record<string, unknown>> = {
  ...STEP_EXAMPLES,
  schedule: { type: "schedule", cron: "0 8 * * *" },
  table: { type: "table", tableId: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a60" },
};

/**
 * Every field that a body may have, however deep. A value of several forms is walked in each of them. Where such a
 * value contains its like, the inner one is walked in its first form, and what that contains in none.
 */
export function fieldsOf(document: Document, schema: JsonSchema): FormField[] {
  const body: OpenForm = {
    name: "",
    place: [],
    schema,
    choices: [],
    valueIn: (given) => given,
    write: (_given, json) => json,
  };
  const forms = [body, ...openForms(document, body, { place: [], schema })];
  const fields: FormField[] = [];
  // The forms that a form leads to are added while it is walked.
  for (const form of forms) {
    for (const each of placesIn(document, form.schema)) {
      const field = { form, ...each };
      fields.push(field);
      forms.push(...openForms(document, form, field));
    }
  }
  return fields;
}

/** What is the same for a field that several forms share. */
export function keyOf({ form, place, schema }: FormField): string {
  return JSON.stringify([...form.place, ...place, schema]);
}

/** The places of a schema, down to those where a value may have several forms. */
function placesIn(document: Document, schema: JsonSchema): Omit<FormField, "form">[] {
  const { resolve } = document;
  const walk = (
    given: JsonSchema,
    place: Place,
    entered: readonly string[],
  ): Omit<FormField, "form">[] => {
    const known = resolve(given);
    const own = place.length === 0 ? [] : [{ place, schema: known }];
    const within = given.$ref === undefined ? entered : [...entered, given.$ref];
    const isAgain = new Set(within).size < within.length;
    if (isAgain || (place.length > 0 && formsOf(document, known).length > 1)) return own;
    const members = wholeAlternativesOf(known, resolve).flatMap(
      ({ properties = {}, items, additionalProperties: more }) => [
        ...Object.entries(properties),
        ...(items === undefined ? [] : [["0", items] as const]),
        ...(typeof more === "object" && Object.keys(more).length > 0
          ? [["some-name", more] as const]
          : []),
      ],
    );
    return [...own, ...members.flatMap(([name, member]) => walk(member, [...place, name], within))];
  };
  return walk(schema, [], []);
}

/** The forms of objects that a schema lets a value have. */
function formsOf({ resolve }: Document, schema: JsonSchema): JsonSchema[] {
  const alternatives = wholeAlternativesOf(resolve(schema), resolve);
  return alternatives.filter(({ properties }) => properties !== undefined);
}

function openForms(
  document: Document,
  form: OpenForm,
  { place, schema }: Omit<FormField, "form">,
): OpenForm[] {
  const forms = formsOf(document, schema);
  if (forms.length < 2) return [];
  const choice = JSON.stringify(forms);
  const depth = form.choices.filter((each) => each === choice).length;
  const walked = [forms, forms.slice(0, 1), []][depth] ?? [];
  return walked.map((each) => ({
    name: `${form.name} as ${nameOf(each, forms)}`,
    place: [...form.place, ...place],
    schema: each,
    choices: [...form.choices, choice],
    valueIn: () => valueOf(document, each),
    write: (body, json) => {
      if (place.length === 0) return form.write(body, json);
      const around = { place, json };
      return form.write(body, placeIn(document, form.schema, form.valueIn(body), around));
    },
  }));
}

/** The good value of the form's type if it has what the form needs, else the smallest value. */
function valueOf({ resolve }: Document, schema: JsonSchema): unknown {
  const good = GOOD_VALUES[typeOf(schema) ?? ""];
  const isWhole = schema.required?.every((name) => Object.hasOwn(Object(good), name)) === true;
  return good !== undefined && isWhole ? good : sampleOf(schema, resolve);
}

/** The type that a form names and no other does, or else the members that it needs. */
function nameOf(form: JsonSchema, forms: readonly JsonSchema[]): string {
  const type = typeOf(form);
  const ofType = forms.filter((each) => typeOf(each) === type);
  return type !== null && ofType.length === 1 ? type : (form.required ?? []).join(" and ");
}

function typeOf({ properties = {} }: JsonSchema): string | null {
  const { const: type } = properties["type"] ?? {};
  return typeof type === "string" ? type : null;
}
