import type { ExpressionPool } from "@workflow/expressions";
import { listExpressions, validateDefinition } from "../src/index.ts";
import type { DefinitionInput, ParsedExpressions } from "../src/index.ts";

/** A valid action step; `over` replaces any part. */
export function httpStep(id: string, over: object = {}): object {
  return {
    id,
    type: "action",
    name: id,
    action: "http.request",
    config: { method: "GET", url: "https://example.com" },
    ...over,
  };
}

export function mappingStep(id: string, mapping: unknown, over: object = {}): object {
  return { id, type: "transform", name: id, config: { mapping }, ...over };
}

/** A step of any type that is named after its id. */
export function step(type: string, id: string, config: object, over: object = {}): object {
  return { id, type, name: id, config, ...over };
}

/** A loop over the items of a template, or with the given `config`. */
export function loopStep(
  id: string,
  steps: object[],
  config: object = { items: "{{input.list}}" },
): object {
  return step("loop", id, { ...config, steps });
}

/** A parallel step with a branch for each list of steps, named b0, b1, …. */
export function parallelStep(id: string, branches: object[][]): object {
  return step("parallel", id, {
    branches: branches.map((steps, index) => ({ id: `b${index}`, steps })),
  });
}

/** A parallel step over the items of an array. */
export function forEachStep(
  id: string,
  steps: object[],
  forEach: unknown = "{{input.list}}",
): object {
  return step("parallel", id, { forEach, steps });
}

/** An action step. */
export function actionStep(id: string, action: string, config: object): object {
  return step("action", id, config, { action });
}

/** A condition with a branch for each list of steps, named b0, b1, …, all taken when true. */
export function conditionStep(id: string, branches: object[][], elseSteps?: object[]): object {
  return {
    id,
    type: "condition",
    name: id,
    config: {
      branches: branches.map((steps, index) => ({
        id: `b${index}`,
        when: { left: "{{input.x}}", operator: "exists" },
        steps,
      })),
      ...(elseSteps === undefined ? {} : { else: elseSteps }),
    },
  };
}

/** A condition in the form if/then/else. */
export function ifStep(id: string, left: unknown, then: object[], otherwise?: unknown): object {
  return {
    id,
    type: "condition",
    name: id,
    config: {
      if: { left, operator: "exists" },
      // oxlint-disable-next-line unicorn/no-thenable -- the key is part of the contract
      then,
      ...(otherwise === undefined ? {} : { else: otherwise }),
    },
  };
}

/** Violations as "path: message", the path joined by dots; empty when the definition is valid. */
export function problemsOf(
  definition: DefinitionInput,
  expressions: ParsedExpressions = new Map(),
): string[] {
  const result = validateDefinition({ trigger: { type: "api" }, ...definition }, { expressions });
  if (result.ok) return [];
  return result.violations.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

/** Violations of a workflow with these steps. */
export function stepProblems(...steps: unknown[]): string[] {
  return problemsOf({ steps });
}

/** Like `stepProblems`, with the steps' expressions parsed. */
export async function expressionProblems(
  pool: ExpressionPool,
  ...steps: unknown[]
): Promise<string[]> {
  const parsed = listExpressions(steps).map(
    async (text) => [text, await pool.parse("company", text)] as const,
  );
  return problemsOf({ steps }, new Map(await Promise.all(parsed)));
}
