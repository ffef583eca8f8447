import type { Violation } from "@workflow/errors";
import { isJsonObject } from "@workflow/json";
import { parseTemplateText } from "./template-parser.ts";
import type { TemplateRoot } from "./template-parser.ts";

/** One template inside a value. */
export interface TemplateReference {
  root: TemplateRoot;
  /** Property names below the root; array indices are decimal strings. */
  segments: readonly string[];
  /** The path in the scanned value of the string with the template. */
  path: string[];
}

export interface TemplateScan {
  references: TemplateReference[];
  /** Bad templates, each at the path of its string. */
  problems: Violation[];
}

/** Finds all valid and bad templates in a JSON value; object keys are not scanned. */
export function scanTemplates(value: unknown): TemplateScan {
  const scan: TemplateScan = { references: [], problems: [] };
  scanInto(value, [], scan);
  return scan;
}

/** The valid templates of a JSON value, in document order. */
export function listReferences(value: unknown): TemplateReference[] {
  return scanTemplates(value).references;
}

function scanInto(value: unknown, path: readonly string[], scan: TemplateScan): void {
  if (typeof value === "string") {
    if (!value.includes("{{")) return;
    const { parts, problems } = parseTemplateText(value);
    for (const part of parts) {
      if (typeof part !== "string") scan.references.push({ ...part, path: [...path] });
    }
    for (const message of problems) scan.problems.push({ path: [...path], message });
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) scanInto(item, [...path, String(index)], scan);
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) scanInto(value[key], [...path, key], scan);
  }
}
