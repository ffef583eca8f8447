import { createAjv } from "./budgeted-ajv.ts";

/** What names a schema, or keeps others for references. */
const STRUCTURE = ["$schema", "$id", "$anchor", "$defs", "definitions"];
/** Rules of ajv that allow and forbid nothing. */
const WITHOUT_EFFECT = ["$comment", "id"];

interface Known {
  keywords: ReadonlySet<string>;
  formats: ReadonlySet<unknown>;
}

let known: Known | undefined;

/**
 * Whether a keyword of a JSON Schema has a part in what `compileJsonSchema` makes of it, in either draft.
 * Others explain, or are nobody's; the schema decides the same without them, as long as no reference leads
 * into them.
 *
 * @param value what the schema has under it: a format that is not known decides nothing
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
