import { invalidRequest } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import type { WorkflowContent } from "./content.ts";

/** The fields of an update as they arrive; undefined means not set. */
type UpdateFields = {
  [Key in keyof WorkflowContent]?: string | undefined;
};

/** Mask paths of fields that every workflow has, with their names in the REST API. */
const REQUIRED_FIELDS = [
  { path: "name", key: "name", name: "name" },
  { path: "trigger_json", key: "triggerJson", name: "trigger" },
  { path: "steps_json", key: "stepsJson", name: "steps" },
] as const;

/** Mask paths of optional fields: named in the mask but not set, they are cleared. */
const CLEARABLE_FIELDS = [
  { path: "description", key: "description" },
  { path: "input_schema_json", key: "inputSchemaJson" },
  { path: "output_schema_json", key: "outputSchemaJson" },
  { path: "settings_json", key: "settingsJson" },
] as const;

const KNOWN_PATHS: ReadonlySet<string> = new Set(
  [...REQUIRED_FIELDS, ...CLEARABLE_FIELDS].map((field) => field.path),
);

/**
 * The fields that the mask names, with their new values; null clears a field. Fields outside of the
 * mask are ignored.
 *
 * @throws AppError BAD_REQUEST for an unknown path, and for clearing a required field
 */
export function applyMask(mask: readonly string[], fields: UpdateFields): Partial<WorkflowContent> {
  const violations: Violation[] = [];
  if (mask.some((path) => !KNOWN_PATHS.has(path))) {
    const message = `holds an unknown path; known are ${[...KNOWN_PATHS].join(", ")}`;
    violations.push({ path: ["updateMask"], message });
  }
  const changes: Partial<WorkflowContent> = {};
  for (const { path, key, name } of REQUIRED_FIELDS) {
    if (!mask.includes(path)) continue;
    const value = fields[key];
    if (value === undefined) violations.push({ path: [name], message: "must be set" });
    else changes[key] = value;
  }
  for (const { path, key } of CLEARABLE_FIELDS) {
    if (mask.includes(path)) changes[key] = fields[key] ?? null;
  }
  if (violations.length > 0) throw invalidRequest(violations);
  return changes;
}
