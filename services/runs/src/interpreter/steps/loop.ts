import { evaluate, evaluateCondition } from "@workflow/definition";
import type { CompiledCondition, CompiledLoopStep, TemplateScope } from "@workflow/definition";
import { outputTooLarge, STEP_OUTPUT_CHARS_MAX } from "../../domain/output-limit.ts";
import { StepError } from "../../domain/step-error.ts";
import { storableJson } from "../../domain/storable-json.ts";
import type { StepOutput } from "../../journal/step-outputs.ts";
import { collectOutputs } from "../collect-outputs.ts";
import { countStepsAtLeast, mayRespond } from "../count-steps.ts";
import type { Attempt, Execution, LoopScope, StepOutcome } from "../execution.ts";
import { completionInTurns } from "../step-output.ts";
import { StepScopes } from "../step-scopes.ts";

/** Repeats its steps and returns the last output of each iteration (D17). */
export async function executeLoop(
  execution: Execution,
  step: CompiledLoopStep,
  { path, showInput, runNested }: Attempt,
): Promise<StepOutcome> {
  const iterations = planIterations(execution, step, showInput);
  const { journal } = execution;
  const stepsEach = countStepsAtLeast(step.steps);
  // A response may end the run in the first iteration.
  const planned = mayRespond(step.steps) ? Math.min(iterations.count ?? 1, 1) : iterations.count;
  if (planned !== null) journal.budget.assertRoomInside(path, planned * stepsEach);
  const outputs = new OutputList();
  /** The last two iterations: in the newest one no step may have ended. */
  let layers: StepScopes[] = [];
  try {
    let index = 0;
    for (; await iterations.goesOn(index, layers.at(-1) ?? null); index++) {
      if (index >= step.maxIterations) throw tooManyIterations(step);
      // How often a condition holds is not known in advance: each iteration by itself has to fit whole.
      if (planned === null) journal.budget.assertRoomInside(`${path}[${index}]`, stepsEach);
      const loop: LoopScope = { item: iterations.itemOf(index), index };
      const stepScopes = new StepScopes(execution.stepScopes);
      layers = [...layers.slice(-1), stepScopes];
      const nesting = { prefix: `${path}[${index}].`, stepScopes, loop };
      const outcome = await runNested(execution, step.steps, nesting);
      if (outcome.kind !== "done") return outcome;
      outputs.add(outcome.output);
    }
    journal.forgetPast(path, (part) => typeof part === "number" && part >= index);
  } finally {
    execution.stepScopes.absorbLast(layers);
  }
  return completionInTurns(
    execution,
    await collectOutputs(execution.outputs, outputs.items),
    false,
  );
}

/** Collects outputs, and fails when they are together larger than a step may return. */
class OutputList {
  readonly items: StepOutput[] = [];
  #chars = 0;

  add(output: StepOutput): void {
    this.#chars += output.charsMin + 1;
    if (this.#chars > STEP_OUTPUT_CHARS_MAX) throw outputTooLarge();
    this.items.push(output);
  }
}

interface Iterations {
  /** Null: the loop goes on as long as a condition holds. */
  count: number | null;
  goesOn(index: number, last: StepScopes | null): boolean | Promise<boolean>;
  itemOf(index: number): unknown;
}

function planIterations(
  execution: Execution,
  step: CompiledLoopStep,
  showInput: (resolved: string) => void,
): Iterations {
  const { over } = step;
  switch (over.kind) {
    case "items": {
      const { value, masked } = evaluate(over.items, execution.scope);
      showInput(storableJson({ items: masked }));
      if (!Array.isArray(value)) throw invalid("items must be an array.");
      if (value.length > step.maxIterations) throw tooManyIterations(step, value.length);
      const items: readonly unknown[] = value;
      return {
        count: items.length,
        goesOn: (index) => index < items.length,
        itemOf: (index) => items[index] ?? null,
      };
    }
    case "count": {
      const { value, masked } = evaluate(over.count, execution.scope);
      showInput(storableJson({ count: masked }));
      if (typeof value !== "number" || !Number.isInteger(value) || value < 0) {
        throw invalid("count must be a whole number, 0 or more.");
      }
      if (value > step.maxIterations) throw tooManyIterations(step, value);
      return { count: value, goesOn: (index) => index < value, itemOf: (index) => index };
    }
    case "while":
      showInput(JSON.stringify({ maxIterations: step.maxIterations }));
      return {
        count: null,
        goesOn: (index, last) => holds(execution, step, over.condition, { index, last }),
        itemOf: () => null,
      };
    default:
      return over satisfies never;
  }
}

async function holds(
  { outputs, scope, stepScopes }: Execution,
  { readsOutputs }: CompiledLoopStep,
  condition: CompiledCondition,
  { index, last }: { index: number; last: StepScopes | null },
): Promise<boolean> {
  const reads = (last ?? stepScopes).outputsOf(readsOutputs);
  await outputs.pin(reads);
  try {
    return evaluateCondition(condition, whileScope(scope, index, last));
  } finally {
    outputs.unpin(reads);
  }
}

/** The condition sees the steps of the body as the last iteration left them. */
function whileScope(scope: TemplateScope, index: number, last: StepScopes | null): TemplateScope {
  return { ...scope, steps: last ?? scope.steps, loop: { item: null, index } };
}

function tooManyIterations(step: CompiledLoopStep, planned?: number): StepError {
  const wanted = planned === undefined ? "" : `, not ${planned}`;
  const message = `The loop runs at most ${step.maxIterations} times (maxIterations)${wanted}.`;
  return new StepError("LOOP_LIMIT", message, { retryable: false });
}

function invalid(message: string): StepError {
  return new StepError("INVALID_INPUT", message, { retryable: false });
}
