import { isJsonObject, isTooDeep, ownProperty } from "@workflow/json";
import { DEFINITION_LIMITS } from "./limits.ts";
import { findStepType } from "./step-types/registry.ts";

/**
 * Lists the JSONata expressions of a definition's steps for `validateDefinition`, each once. Empty when their
 * total size is over the limit. Takes any JSON value without throwing.
 */
export function listExpressions(steps: unknown): string[] {
  if (isTooDeep(steps)) return [];
  const walk: Walk = { found: new Set(), chars: 0, stepCount: 0 };
  walkBlock(steps, 0, walk);
  return walk.chars > DEFINITION_LIMITS.expressionCharsSumMax ? [] : [...walk.found];
}

interface Walk {
  readonly found: Set<string>;
  /** The total size; a repeated expression counts each time. */
  chars: number;
  stepCount: number;
}

function walkBlock(steps: unknown, depth: number, walk: Walk): void {
  if (!Array.isArray(steps) || depth > DEFINITION_LIMITS.blockDepthMax) return;
  for (const step of steps) {
    walk.stepCount += 1;
    if (walk.stepCount > DEFINITION_LIMITS.stepsMax) return;
    if (isJsonObject(step))
      walkStep(ownProperty(step, "type"), ownProperty(step, "config"), depth, walk);
  }
}

function walkStep(type: unknown, config: unknown, depth: number, walk: Walk): void {
  const stepType = typeof type === "string" ? findStepType(type) : undefined;
  if (stepType === undefined || !isJsonObject(config)) return;
  for (const expression of stepType.expressions?.(config) ?? []) {
    if (expression.length > DEFINITION_LIMITS.expressionCharsMax) continue;
    walk.chars += expression.length;
    walk.found.add(expression);
  }
  for (const block of stepType.blocks(config)) walkBlock(block.steps, depth + 1, walk);
}
