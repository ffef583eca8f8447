import { setImmediate } from "node:timers/promises";
import type { Violation } from "@workflow/errors";
import { isJsonObject, isTooDeep, JSON_DEPTH_MAX } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import { checkSteps } from "./check-steps.ts";
import type { ParsedExpressions } from "./expression.ts";
import { Problems } from "./problems.ts";
import { settingsSchema } from "./settings.ts";
import type { Settings } from "./settings.ts";
import type { Step } from "./step.ts";
import { triggerSchema } from "./trigger.ts";
import type { Trigger } from "./trigger.ts";

/** The parts of a workflow that define its runs, as a caller sent them. */
export interface DefinitionInput {
  trigger?: unknown;
  steps?: unknown;
  /** Null counts as absent: no schema, no settings. */
  inputSchema?: unknown;
  outputSchema?: unknown;
  settings?: unknown;
}

/** A valid definition, still exactly as the caller sent it: unknown keys kept, defaults not added. */
export interface WorkflowDefinition {
  trigger: Trigger;
  steps: Step[];
  inputSchema?: JsonObject | null;
  outputSchema?: JsonObject | null;
  settings?: Settings | null;
}

export type ValidationResult =
  { ok: true; definition: WorkflowDefinition } | { ok: false; violations: Violation[] };

/** The options of a check. */
export interface ValidationOptions {
  /**
   * Whether loops may have an empty body, and parallel steps no branches or empty ones. For workflows in the
   * editor that nothing can start.
   */
  mayBeUnfinished?: boolean;
  /** The results for the expressions that `listExpressions` returns. Other expressions are not checked. */
  expressions?: ParsedExpressions;
}

/**
 * Checks all rules of a definition that do not need a run (D14 to D19). All problems are reported at once, at
 * most 50. Paths lead into the definition, array indices as decimal strings. Takes any JSON value, however
 * hostile, without throwing.
 */
export function validateDefinition(
  input: DefinitionInput,
  options: ValidationOptions = {},
): ValidationResult {
  const checks = check(input, options);
  let next = checks.next();
  while (next.done !== true) next = checks.next();
  return next.value;
}

/** The longest slice of a check, in milliseconds; one JSON Schema may take a little longer. */
const SLICE_MS = 10;

/** Checks like `validateDefinition`, in slices, so that a large definition does not block the process. */
export async function validateInTurns(
  input: DefinitionInput,
  options: ValidationOptions = {},
): Promise<ValidationResult> {
  const checks = check(input, options);
  let since = performance.now();
  for (;;) {
    const next = checks.next();
    if (next.done === true) return next.value;
    if (performance.now() - since < SLICE_MS) continue;
    await setImmediate();
    since = performance.now();
  }
}

function* check(
  input: DefinitionInput,
  options: ValidationOptions,
): Generator<void, ValidationResult> {
  const problems = new Problems(options);
  checkDepth(input, problems);
  yield;
  if (problems.violations.length === 0) {
    problems.parse(triggerSchema, input.trigger, ["trigger"]);
    yield;
    yield* checkSteps(input.steps, problems);
    checkSchema(input.inputSchema, "inputSchema", problems);
    yield;
    checkSchema(input.outputSchema, "outputSchema", problems);
    if (isGiven(input.settings)) checkSettings(input, problems);
  }
  return isValid(input, problems)
    ? { ok: true, definition: input }
    : { ok: false, violations: problems.violations };
}

/** A definition without problems has this type: the checks above prove it. */
function isValid(input: DefinitionInput, problems: Problems): input is WorkflowDefinition {
  return problems.violations.length === 0 && isGiven(input.trigger) && isGiven(input.steps);
}

/** A tool takes named arguments, so the input of a workflow that is one must be an object. */
function checkSettings({ settings, inputSchema }: DefinitionInput, problems: Problems): void {
  const parsed = problems.parse(settingsSchema, settings, ["settings"]);
  if (parsed?.mcp === undefined || !isJsonObject(inputSchema)) return;
  const { type } = inputSchema;
  if (type === undefined || type === "object") return;
  problems.add(["inputSchema", "type"], 'must be "object" for a workflow with settings.mcp');
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function checkSchema(
  schema: unknown,
  field: "inputSchema" | "outputSchema",
  problems: Problems,
): void {
  if (isGiven(schema)) problems.trySchema(schema, [field]);
}

/** This check goes first, so that no later check can overflow the stack. */
function checkDepth(input: DefinitionInput, problems: Problems): void {
  const { trigger, steps, inputSchema, outputSchema, settings } = input;
  for (const [field, value] of Object.entries({
    trigger,
    steps,
    inputSchema,
    outputSchema,
    settings,
  })) {
    if (isTooDeep(value)) {
      problems.add([field], `nests deeper than ${JSON_DEPTH_MAX} levels`);
    }
  }
}
