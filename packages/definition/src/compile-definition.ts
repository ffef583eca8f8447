import { isJsonObject } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import type { CompiledDefinition, CompiledStep, CompiledStepBase } from "./compiled-definition.ts";
import { compileCondition } from "./condition.ts";
import { InvalidDefinitionError } from "./invalid-definition-error.ts";
import { parseOrThrow } from "./parse-or-throw.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import { settingsSchema } from "./settings.ts";
import { findStepType } from "./step-types/registry.ts";
import { stepSchema } from "./step.ts";
import { listReferences } from "./template-scan.ts";
import type { TemplateReference } from "./template-scan.ts";
import { triggerSchema } from "./trigger.ts";
import type { DefinitionInput } from "./validate-definition.ts";

/**
 * Compiles a definition that `validateDefinition` has accepted for the interpreter. Rules that are newer than
 * the definition are not applied, so a deployed workflow keeps working.
 *
 * @throws InvalidDefinitionError or TemplateError for a definition that cannot be run
 */
export function compileDefinition(definition: DefinitionInput): CompiledDefinition {
  const settings = parseOrThrow(settingsSchema, definition.settings ?? {}, ["settings"]);
  const secretKeys = new Set<string>();
  return {
    trigger: parseOrThrow(triggerSchema, definition.trigger, ["trigger"]),
    settings,
    inputSchema: toSchema(definition.inputSchema),
    outputSchema: toSchema(definition.outputSchema),
    steps: compileBlock(definition.steps, [], { retryDefault: settings.retry, secretKeys }),
    secretKeys: [...secretKeys],
  };
}

interface CompileContext {
  retryDefault: RetryPolicy | undefined;
  /** Collects the secrets that templates name. */
  secretKeys: Set<string>;
}

function compileBlock(
  steps: unknown,
  path: readonly string[],
  context: CompileContext,
): CompiledStep[] {
  if (!Array.isArray(steps)) {
    throw new InvalidDefinitionError([{ path: [...path], message: "must be an array of steps" }]);
  }
  return steps.map((step: unknown) => compileStep(step, path, context));
}

function compileStep(
  step: unknown,
  blockPath: readonly string[],
  context: CompileContext,
): CompiledStep {
  const parsed = parseOrThrow(stepSchema, step, blockPath);
  const path = [...blockPath, parsed.id];
  const stepType = findStepType(parsed.type);
  if (stepType === undefined) {
    throw new InvalidDefinitionError([{ path, message: `unknown step type ${parsed.type}` }]);
  }
  const typed = { action: parsed.action, config: rawConfig(step, parsed.config) };
  const templates = stepType.templateFields(typed).map(({ value }) => value);
  const references = listReferences([parsed.when, ...templates]);
  collectSecretKeys(references, context.secretKeys);
  const base: CompiledStepBase = {
    id: parsed.id,
    name: parsed.name,
    path,
    when: parsed.when === undefined ? undefined : compileCondition(parsed.when),
    timeoutMs: parsed.timeoutMs,
    retry: parsed.retry ?? (stepType.inheritsRetry ? context.retryDefault : undefined),
    onError: parsed.onError,
    checkpoint: parsed.checkpoint,
    readsOutputs: stepType.seesAllOutputs?.(typed.config) === true ? "all" : outputsIn(references),
  };
  return stepType.compile(typed, base, (steps, label) =>
    compileBlock(steps, label === null ? path : [...path, label], context),
  );
}

function collectSecretKeys(
  references: readonly TemplateReference[],
  secretKeys: Set<string>,
): void {
  for (const { root, segments } of references) {
    const [key] = segments;
    if (root === "secrets" && key !== undefined) secretKeys.add(key);
  }
}

/** Step ids. A template that names only a step's status or error does not read its output. */
function outputsIn(references: readonly TemplateReference[]): string[] {
  const stepIds = new Set<string>();
  for (const { root, segments } of references) {
    const [stepId, member] = segments;
    if (root !== "steps" || stepId === undefined) continue;
    if (member === undefined || member === "output") stepIds.add(stepId);
  }
  return [...stepIds];
}

/** The config as the caller sent it: the parsed copy lacks a key called `__proto__`. */
function rawConfig(step: unknown, parsed: JsonObject): JsonObject {
  return isJsonObject(step) && isJsonObject(step["config"]) ? step["config"] : parsed;
}

function toSchema(value: unknown): JsonObject | null {
  return isJsonObject(value) ? value : null;
}
