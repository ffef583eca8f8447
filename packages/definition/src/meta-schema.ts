import type { Violation } from "@workflow/errors";
import { Ajv as Ajv07 } from "ajv";
import type { Ajv, ErrorObject, Options, SchemaObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Draft } from "./budgeted-ajv.ts";
import { schemaErrorMessage, schemaErrorPath } from "./json-schema-messages.ts";

/** Above this size only the first violation is reported: listing all takes quadratic time in ajv. */
const ALL_MISTAKES_CHARS_MAX = 16_384;

/** `regex` is not checked here: patterns are RE2's, and compiling the schema tries them. */
const OPTIONS: Options = { strict: false, logger: false, validateFormats: false };

/** Made on first use: compiling a draft's meta-schema takes some 50 ms. */
const checkers = new Map<string, Ajv>();

/** The violations of a schema against the meta-schema of its draft; paths lead into the schema. */
export function checkAgainstDraft(
  schema: SchemaObject,
  draft: Draft,
  schemaChars: number,
): Violation[] {
  const ajv = checkerFor(draft, schemaChars <= ALL_MISTAKES_CHARS_MAX);
  // ajv names a draft's meta-schema by its default id, however `$schema` is spelled.
  const { $schema: _, ...unnamed } = schema;
  if (ajv.validateSchema(unnamed) === true) return [];
  return withoutAlternatives(ajv.errors ?? []).map((error) => ({
    path: schemaErrorPath(error),
    message: schemaErrorMessage(error),
  }));
}

/**
 * Keeps the useful errors of a union. ajv reports for each form why it does not match, and then that none
 * does. Errors inside of a form say most; a wrong type says nothing beside them.
 */
function withoutAlternatives(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const isOneForm = ({ keyword }: ErrorObject): boolean => keyword === "anyOf";
  const places = new Set(errors.filter(isOneForm).map(({ instancePath }) => instancePath));
  const told = errors.filter((error) => !isOneForm(error));
  const isInside = ({ keyword, instancePath }: ErrorObject): boolean =>
    keyword !== "type" && places.has(instancePath);
  const explained = new Set(told.filter(isInside).map(({ instancePath }) => instancePath));
  return told.filter((error) => error.keyword !== "type" || !explained.has(error.instancePath));
}

function checkerFor(draft: Draft, allErrors: boolean): Ajv {
  const key = `${draft} ${allErrors}`;
  const known = checkers.get(key);
  if (known !== undefined) return known;
  const options = { ...OPTIONS, allErrors };
  const ajv = draft === "2020-12" ? new Ajv2020(options) : new Ajv07(options);
  checkers.set(key, ajv);
  return ajv;
}
