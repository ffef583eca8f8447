import { planDefinition, validateDefinition } from "../src/index.ts";
import type { DefinitionInput, DefinitionPlan } from "../src/index.ts";
import { httpStep } from "./definition.ts";

/** The workflow of every plan. */
export const workflowId = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";
/** The moment of every plan. */
export const now = new Date("2026-03-28T12:00:00.000Z");

/** The plan of a definition at `now`, with the problems that its validation finds. */
export function plan(definition: DefinitionInput, input: unknown = {}): DefinitionPlan {
  const whole = { trigger: { type: "api" }, ...definition };
  const validation = validateDefinition(whole);
  const violations = validation.ok ? [] : validation.violations;
  return planDefinition(whole, { violations, input, workflowId, version: 3, now });
}

/** The plan of a workflow of these steps. */
export function planSteps(steps: object[], input: Record<string, unknown> = {}): DefinitionPlan {
  return plan({ steps }, input);
}

/** Problems as "path: message". */
export function problemsOf({ problems }: DefinitionPlan): string[] {
  return problems.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

/** A request that fails without a URL in the input. */
export const needsUrl = (id: string, over: object = {}) =>
  httpStep(id, { config: { method: "GET", url: "{{input.url}}" }, ...over });
/** The problem of `needsUrl` where the input has no URL. */
export const URL_PROBLEM = "config.url: must be a string, not null";
/** A condition that holds where the input has `yes`. */
export const yes = { left: "{{input.yes}}", operator: "exists" };
