import type { CompiledCondition } from "./condition.ts";
import type { JsonObject } from "./json.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import type { CompiledSettings } from "./settings.ts";
import type { CompiledValue } from "./template.ts";
import type { CompiledTrigger } from "./trigger.ts";

/** A definition as the interpreter runs it: defaults applied, templates and conditions parsed. */
export interface CompiledDefinition {
  trigger: CompiledTrigger;
  settings: CompiledSettings;
  /** JSON Schemas as the caller wrote them, for `compileJsonSchema`; null when there is none. */
  inputSchema: JsonObject | null;
  outputSchema: JsonObject | null;
  steps: readonly CompiledStep[];
}

/** What every compiled step has. Times are in milliseconds. */
export interface CompiledStepBase {
  id: string;
  name: string;
  /** Ids from the top down with the labels of the blocks between: cond1, else, child (D26). */
  path: readonly string[];
  when: CompiledCondition | undefined;
  /** Undefined: only the run's own timeout counts. */
  timeoutMs: number | undefined;
  /** The step's own policy or else the workflow's; undefined: one attempt. */
  retry: RetryPolicy | undefined;
  onError: "fail" | "continue";
  checkpoint: boolean;
}

export interface CompiledActionStep extends CompiledStepBase {
  type: "action";
  /** Id of the action, such as http.request. */
  action: string;
  connectionId: CompiledValue | undefined;
  /** An object by the action's input keys. */
  inputs: CompiledValue;
}

export interface CompiledTransformStep extends CompiledStepBase {
  type: "transform";
  transform:
    | { kind: "mapping"; mapping: CompiledValue }
    /** JSONata source; it sees `input`, or the run's scope when that is undefined. */
    | { kind: "expression"; expression: string; input: CompiledValue | undefined };
}

export interface CompiledConditionStep extends CompiledStepBase {
  type: "condition";
  /** The first branch that holds is taken. The form if/then/else has one branch, `then`. */
  branches: readonly CompiledBranch[];
  /** Taken when none holds; its label in paths and output is `else`. */
  elseSteps: readonly CompiledStep[];
}

export interface CompiledBranch {
  id: string;
  when: CompiledCondition;
  steps: readonly CompiledStep[];
}

export interface CompiledDelayStep extends CompiledStepBase {
  type: "delay";
  /** A number of milliseconds, or an ISO timestamp; from a template it may be anything. */
  delay: { kind: "duration"; durationMs: CompiledValue } | { kind: "until"; until: CompiledValue };
}

/** Every step there is: an interpreter's switch over `type` closes with never. */
export type CompiledStep =
  CompiledActionStep | CompiledTransformStep | CompiledConditionStep | CompiledDelayStep;
