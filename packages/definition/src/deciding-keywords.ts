import { createAjv } from "./budgeted-ajv.ts";

/** Keywords that name a schema, or hold schemas for references. */
const STRUCTURE = ["$schema", "$id", "$anchor", "$defs", "definitions"];
/** Keywords of ajv that neither allow nor forbid a value. */
const WITHOUT_EFFECT = ["$comment", "id"];

interface Known {
  keywords: ReadonlySet<string>;
  formats: ReadonlySet<unknown>;
}

let known: Known | undefined;

/**
 * Whether a keyword of a JSON Schema affects the result of `compileJsonSchema`, in either draft. Other
 * keywords are annotations or unknown. The schema decides the same without them, unless a reference leads
 * into them.
 *
 * @param value the keyword's value: an unknown format decides nothing
 */
export function isDecidingKeyword(keyword: string, value: unknown): boolean {
  const { keywords, formats } = (known ??= readKnown());
  return keywords.has(keyword) && (keyword !== "format" || formats.has(value));
}

function readKnown(): Known {
  const keywords = new Set(STRUCTURE);
  const formats = new Set<string>();
  for (const draft of ["2020-12", "draft-07"] as const) {
    const { ajv } = createAjv(draft, false);
    for (const keyword of Object.keys(ajv.RULES.all)) keywords.add(keyword);
    for (const format of Object.keys(ajv.formats)) formats.add(format);
  }
  for (const keyword of WITHOUT_EFFECT) keywords.delete(keyword);
  return { keywords, formats };
}
