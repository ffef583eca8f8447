import type { Violation } from "@workflow/errors";
import { Ajv as Ajv07 } from "ajv";
import type { Ajv, Options, SchemaObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Draft } from "./budgeted-ajv.ts";
import { schemaErrorMessage, schemaErrorPath } from "./json-schema-messages.ts";

/** Above this size only the first mistake is looked for: listing them all is quadratic in ajv. */
const ALL_MISTAKES_CHARS_MAX = 16_384;

/** `regex` is not checked here: patterns are RE2's, and compiling the schema tries them. */
const OPTIONS: Options = { strict: false, logger: false, validateFormats: false };

/** Made on first use: compiling a draft's meta-schema takes some 50 ms. */
const checkers = new Map<string, Ajv>();

/** What a schema gets wrong against the meta-schema of its draft; paths lead into the schema. */
export function checkAgainstDraft(
  schema: SchemaObject,
  draft: Draft,
  schemaChars: number,
): Violation[] {
  const ajv = checkerFor(draft, schemaChars <= ALL_MISTAKES_CHARS_MAX);
  // A draft's own meta-schema is named by its default, whatever `$schema` was written like.
  const { $schema: _, ...unnamed } = schema;
  if (ajv.validateSchema(unnamed) === true) return [];
  return (ajv.errors ?? []).map((error) => ({
    path: schemaErrorPath(error),
    message: schemaErrorMessage(error),
  }));
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
