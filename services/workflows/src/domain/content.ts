import { AppError, invalidRequest, nameFirstPlace } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { DEFINITION_LIMITS } from "@workflow/definition";
import { isStorableText } from "@workflow/json";
import { below, readJson } from "./json-text.ts";

/** The caller's part of a workflow. Stored JSON fields hold canonical text, see `readJson`. */
export interface WorkflowContent {
  name: string;
  description: string | null;
  triggerJson: string;
  stepsJson: string;
  inputSchemaJson: string | null;
  outputSchemaJson: string | null;
  settingsJson: string | null;
}

/** The parsed definition; null where a field is absent. */
export interface ParsedDefinition {
  trigger: unknown;
  steps: unknown;
  inputSchema: unknown;
  outputSchema: unknown;
  settings: unknown;
}

/** The text fields of the definition, each with its member in the parsed one. */
const DEFINITION_FIELDS = [
  { key: "triggerJson", name: "trigger", kind: "object" },
  { key: "stepsJson", name: "steps", kind: "array" },
  { key: "inputSchemaJson", name: "inputSchema", kind: "object" },
  { key: "outputSchemaJson", name: "outputSchema", kind: "object" },
  { key: "settingsJson", name: "settings", kind: "object" },
] as const;

const NAME_CHARS_MAX = 255;

/** The limit of description and definition together, in bytes (D4). */
const CONTENT_BYTES_MAX = 1024 * 1024;
/** The number of problems that one answer lists. */
const VIOLATIONS_MAX = DEFINITION_LIMITS.violationsMax;

/** The trigger's field in a request, for the paths of its problems. */
export type TriggerName = "trigger" | "triggerConfig";

/** Fields with a valid shape: as stored, and parsed. */
export interface CheckedFields {
  fields: Partial<WorkflowContent>;
  parsed: Partial<ParsedDefinition>;
}

/**
 * Checks the shape of the given fields, and converts their JSON to the stored form.
 *
 * @throws AppError BAD_REQUEST with a violation for each wrong field, by its name in the REST API
 * (D3); VALIDATION_ERROR for numbers that are too large for JavaScript; PAYLOAD_TOO_LARGE
 */
export function checkFields(
  given: Partial<WorkflowContent>,
  triggerName: TriggerName = "trigger",
): CheckedFields {
  measureContent(given);
  const violations = textViolations(given);
  const infinite: Violation[] = [];
  const fields = { ...given };
  const parsed: Partial<ParsedDefinition> = {};
  for (const { key, name, kind } of DEFINITION_FIELDS) {
    const text = given[key];
    if (text === undefined) continue;
    if (text === null) {
      parsed[name] = null;
      continue;
    }
    const path = [name === "trigger" ? triggerName : name];
    const result = readJson(text, kind);
    if (result.ok) {
      parsed[name] = result.value;
      fields[key] = result.text;
      infinite.push(...below(path, result.infinite));
    } else violations.push({ path, message: result.message });
  }
  if (violations.length > 0) throw invalidRequest(violations);
  if (infinite.length > 0) throw invalidDefinition(infinite.slice(0, VIOLATIONS_MAX));
  return { fields, parsed };
}

/** The name and the description, where given. */
function textViolations({ name, description }: Partial<WorkflowContent>): Violation[] {
  const violations: Violation[] = [];
  const problem = name === undefined ? null : nameProblem(name);
  if (problem !== null) violations.push({ path: ["name"], message: problem });
  if (typeof description === "string" && !isStorableText(description)) {
    const message = "must not contain NUL or unpaired surrogates";
    violations.push({ path: ["description"], message });
  }
  return violations;
}

/** The content of a new workflow in its stored form, its size in bytes, and its definition. */
export function checkContent(given: WorkflowContent): {
  content: WorkflowContent;
  contentBytes: number;
  definition: ParsedDefinition;
} {
  const { fields, parsed } = checkFields(given);
  const content = { ...given, ...fields };
  const { trigger, steps, inputSchema, outputSchema, settings } = parsed;
  const definition = { trigger, steps, inputSchema, outputSchema, settings };
  return { content, contentBytes: measureContent(content), definition };
}

/** The texts of a definition. */
export type DefinitionTexts = Omit<WorkflowContent, "name" | "description">;

/** Parses a definition that this service stored. */
export function parseStored(content: DefinitionTexts): ParsedDefinition {
  const parse = (text: string | null): unknown => (text === null ? null : JSON.parse(text));
  return {
    trigger: parse(content.triggerJson),
    steps: parse(content.stepsJson),
    inputSchema: parse(content.inputSchemaJson),
    outputSchema: parse(content.outputSchemaJson),
    settings: parse(content.settingsJson),
  };
}

/** The content of a stored workflow or version. */
export function contentOf(source: WorkflowContent): WorkflowContent {
  const { name, description, triggerJson, stepsJson } = source;
  const { inputSchemaJson, outputSchemaJson, settingsJson } = source;
  return {
    name,
    description,
    triggerJson,
    stepsJson,
    inputSchemaJson,
    outputSchemaJson,
    settingsJson,
  };
}

/** The VALIDATION_ERROR for a definition with these problems. */
export function invalidDefinition(violations: readonly Violation[]): AppError {
  const message = nameFirstPlace("The workflow definition is not valid", violations);
  return new AppError("VALIDATION_ERROR", message, { violations });
}

/**
 * The size in bytes of the given description and definition fields.
 *
 * @throws AppError PAYLOAD_TOO_LARGE above 1 MiB (D4)
 */
export function measureContent(fields: Partial<WorkflowContent>): number {
  let bytes = byteLength(fields.description);
  for (const field of DEFINITION_FIELDS) bytes += byteLength(fields[field.key]);
  if (bytes > CONTENT_BYTES_MAX) {
    throw new AppError(
      "PAYLOAD_TOO_LARGE",
      `A workflow's description and definition may have at most ${CONTENT_BYTES_MAX} bytes together.`,
    );
  }
  return bytes;
}

/** Characters are Unicode code points, as in the table's constraint. */
function nameProblem(name: string): string | null {
  if (!isStorableText(name)) return "must not contain NUL or unpaired surrogates";
  // A code point has at most two UTF-16 units, so a huge text need not be split.
  if (name === "" || name.length > NAME_CHARS_MAX * 2 || Array.from(name).length > NAME_CHARS_MAX) {
    return `must have 1 to ${NAME_CHARS_MAX} characters`;
  }
  return null;
}

function byteLength(text: string | null | undefined): number {
  return typeof text === "string" ? Buffer.byteLength(text) : 0;
}
