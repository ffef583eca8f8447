import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { isStorableText, parseJsonText, validateDefinition } from "@workflow/definition";
import type { ValidationOptions } from "@workflow/definition";

/** What a caller writes into a workflow. JSON fields hold the caller's own text. */
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

/** The text fields that together make the definition, each with its place in the parsed one. */
const DEFINITION_FIELDS = [
  { key: "triggerJson", name: "trigger", kind: "object" },
  { key: "stepsJson", name: "steps", kind: "array" },
  { key: "inputSchemaJson", name: "inputSchema", kind: "object" },
  { key: "outputSchemaJson", name: "outputSchema", kind: "object" },
  { key: "settingsJson", name: "settings", kind: "object" },
] as const;

const NAME_CHARS_MAX = 255;

/** Bytes that description and definition may have together (D4). */
const CONTENT_BYTES_MAX = 1024 * 1024;

/**
 * Checks the shape of the fields given, whichever they are, and parses their JSON. Throws
 * BAD_REQUEST with a violation for each wrong field, named as REST callers know it (D3).
 */
export function parseFields(fields: Partial<WorkflowContent>): Partial<ParsedDefinition> {
  const violations: Violation[] = [];
  const parsed: Partial<ParsedDefinition> = {};
  const name = fields.name === undefined ? null : nameProblem(fields.name);
  if (name !== null) violations.push({ path: ["name"], message: name });
  if (typeof fields.description === "string" && !isStorableText(fields.description)) {
    violations.push({
      path: ["description"],
      message: "must not contain NUL or unpaired surrogates",
    });
  }
  for (const field of DEFINITION_FIELDS) {
    const text = fields[field.key];
    if (text === undefined) continue;
    if (text === null) {
      parsed[field.name] = null;
      continue;
    }
    const result = parseJsonText(text, field.kind);
    if (result.ok) parsed[field.name] = result.value;
    else violations.push({ path: [field.name], message: result.message });
  }
  if (violations.length > 0) throw badRequest(violations);
  return parsed;
}

/** Like `parseFields` for all fields of a workflow. */
export function parseContent(content: WorkflowContent): ParsedDefinition {
  const { trigger, steps, inputSchema, outputSchema, settings } = parseFields(content);
  return { trigger, steps, inputSchema, outputSchema, settings };
}

/** Parses a definition that this service stored. */
export function parseStored(content: WorkflowContent): ParsedDefinition {
  const parse = (text: string | null): unknown => (text === null ? null : JSON.parse(text));
  return {
    trigger: parse(content.triggerJson),
    steps: parse(content.stepsJson),
    inputSchema: parse(content.inputSchemaJson),
    outputSchema: parse(content.outputSchemaJson),
    settings: parse(content.settingsJson),
  };
}

/** The content of something that has one, a stored workflow or version. */
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

/**
 * Throws VALIDATION_ERROR, with one violation for each problem, unless the definition can be
 * executed as it stands.
 */
export function requireExecutable(definition: ParsedDefinition): void {
  requireValid(definition, { mayBeUnfinished: false });
}

/** As `requireExecutable`, but loops and parallel steps may still be empty. */
export function requireDraft(definition: ParsedDefinition): void {
  requireValid(definition, { mayBeUnfinished: true });
}

function requireValid(definition: ParsedDefinition, options: ValidationOptions): void {
  const { trigger, steps, inputSchema, outputSchema, settings } = definition;
  const input = { trigger, steps, inputSchema, outputSchema, settings };
  const result = validateDefinition(input, options);
  if (!result.ok) throw invalidDefinition(result.violations);
}

/** The VALIDATION_ERROR for a definition with these problems. */
export function invalidDefinition(violations: readonly Violation[]): AppError {
  return new AppError("VALIDATION_ERROR", "The workflow definition is not valid.", { violations });
}

/**
 * Size in bytes of the description and definition fields given. Throws PAYLOAD_TOO_LARGE above
 * 1 MiB (D4).
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

/** The BAD_REQUEST for a request whose shape is wrong. */
export function badRequest(violations: readonly Violation[]): AppError {
  return new AppError("BAD_REQUEST", "The request is not valid.", { violations });
}

/** Characters are Unicode code points, as in the constraint of the table. */
function nameProblem(name: string): string | null {
  if (!isStorableText(name)) return "must not contain NUL or unpaired surrogates";
  // A code point has at most two UTF-16 units: no need to take a huge text apart.
  if (name === "" || name.length > NAME_CHARS_MAX * 2 || Array.from(name).length > NAME_CHARS_MAX) {
    return `must have 1 to ${NAME_CHARS_MAX} characters`;
  }
  return null;
}

function byteLength(text: string | null | undefined): number {
  return typeof text === "string" ? Buffer.byteLength(text) : 0;
}
