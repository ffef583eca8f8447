import type { z } from "zod";
import type { CompiledDefinition, CompiledStep, CompiledStepBase } from "./compiled-definition.ts";
import { compileCondition } from "./condition.ts";
import { InvalidDefinitionError } from "./invalid-definition-error.ts";
import { isJsonObject } from "./json.ts";
import type { JsonObject } from "./json.ts";
import { Problems } from "./problems.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import { settingsSchema } from "./settings.ts";
import { findStepType } from "./step-types/registry.ts";
import { stepSchema } from "./step.ts";
import { triggerSchema } from "./trigger.ts";
import type { DefinitionInput } from "./validate-definition.ts";

/**
 * Turns a definition that `validateDefinition` has accepted into what the interpreter runs. Rules
 * that came after the definition was accepted are not applied again, so a deployed workflow keeps
 * working; what can't be run at all throws InvalidDefinitionError or TemplateError.
 */
export function compileDefinition(definition: DefinitionInput): CompiledDefinition {
  const settings = parseOrThrow(settingsSchema, definition.settings ?? {}, ["settings"]);
  return {
    trigger: parseOrThrow(triggerSchema, definition.trigger, ["trigger"]),
    settings,
    inputSchema: toSchema(definition.inputSchema),
    outputSchema: toSchema(definition.outputSchema),
    steps: compileBlock(definition.steps, [], settings.retry),
  };
}

function compileBlock(
  steps: unknown,
  path: readonly string[],
  retryDefault: RetryPolicy | undefined,
): CompiledStep[] {
  if (!Array.isArray(steps)) {
    throw new InvalidDefinitionError([{ path: [...path], message: "must be an array of steps" }]);
  }
  return steps.map((step: unknown) => compileStep(step, path, retryDefault));
}

function compileStep(
  step: unknown,
  blockPath: readonly string[],
  retryDefault: RetryPolicy | undefined,
): CompiledStep {
  const parsed = parseOrThrow(stepSchema, step, blockPath);
  const path = [...blockPath, parsed.id];
  const stepType = findStepType(parsed.type);
  if (stepType === undefined) {
    throw new InvalidDefinitionError([{ path, message: `unknown step type ${parsed.type}` }]);
  }
  const base: CompiledStepBase = {
    id: parsed.id,
    name: parsed.name,
    path,
    when: parsed.when === undefined ? undefined : compileCondition(parsed.when),
    timeoutMs: parsed.timeoutMs,
    retry: parsed.retry ?? retryDefault,
    onError: parsed.onError,
    checkpoint: parsed.checkpoint,
  };
  return stepType.compile(
    { action: parsed.action, config: rawConfig(step, parsed.config) },
    base,
    (steps, label) => compileBlock(steps, [...path, label], retryDefault),
  );
}

/** The config as it was sent: the parsed copy has lost a key called `__proto__`. */
function rawConfig(step: unknown, parsed: JsonObject): JsonObject {
  return isJsonObject(step) && isJsonObject(step["config"]) ? step["config"] : parsed;
}

function toSchema(value: unknown): JsonObject | null {
  return isJsonObject(value) ? value : null;
}

function parseOrThrow<T>(schema: z.ZodType<T>, value: unknown, path: readonly string[]): T {
  const problems = new Problems();
  const parsed = problems.parse(schema, value, path);
  if (parsed === undefined) throw new InvalidDefinitionError(problems.violations);
  return parsed;
}
