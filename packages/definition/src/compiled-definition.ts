import type { JsonObject } from "@workflow/json";
import type { CompiledCondition } from "./condition.ts";
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
  /** Keys of every secret that a template of the definition names, in order, each once. */
  secretKeys: readonly string[];
}

/** What every compiled step has. Times are in milliseconds. */
export interface CompiledStepBase {
  id: string;
  name: string;
  /**
   * Ids from the top down with the labels of the blocks between: cond1, else, child (D26). The body of
   * a loop or of forEach has no label.
   */
  path: readonly string[];
  when: CompiledCondition | undefined;
  /** Undefined: only the run's own timeout counts. */
  timeoutMs: number | undefined;
  /**
   * The step's own policy; for a step that does one thing outside, or else the workflow's. Undefined:
   * one attempt.
   */
  retry: RetryPolicy | undefined;
  onError: "fail" | "continue";
  checkpoint: boolean;
  /**
   * Ids of the steps whose output the step itself may read, nested steps excepted; `all`: an expression
   * sees every step. Other outputs need not be in memory when it begins (D56).
   */
  readsOutputs: readonly string[] | "all";
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

export interface CompiledEmailStep extends CompiledStepBase {
  type: "email";
  connectionId: CompiledValue | undefined;
  /** An object with to, cc, bcc, from, replyTo, subject, text and html, as far as they were given. */
  message: CompiledValue;
  /** An array of files, apart from the message since they may be far larger. */
  attachments: CompiledValue | undefined;
}

export interface CompiledParallelStep extends CompiledStepBase {
  type: "parallel";
  work:
    | { kind: "branches"; branches: readonly CompiledParallelBranch[] }
    /** The steps once for each item of an array. */
    | { kind: "forEach"; items: CompiledValue; steps: readonly CompiledStep[] };
  strategy: ParallelStrategy;
  /** Branches or items that run at one time; undefined: as many as the engine allows. */
  concurrency: number | undefined;
  /** For all branches together, waiting included. */
  totalTimeoutMs: number | undefined;
}

/** When a parallel step ends, and how. */
export type ParallelStrategy =
  /** When all have ended; it fails with the first failure. */
  | "wait-all"
  /** When all have ended; it does not fail. */
  | "wait-all-settled"
  /** With the first that ends well; it fails when all have failed. */
  | "wait-any"
  /** When all have ended well, or with the first failure. */
  | "fail-fast";

export interface CompiledParallelBranch {
  /** `branch1` and so on where none was given. */
  id: string;
  name: string | undefined;
  steps: readonly CompiledStep[];
}

export interface CompiledLoopStep extends CompiledStepBase {
  type: "loop";
  over:
    | { kind: "items"; items: CompiledValue }
    | { kind: "count"; count: CompiledValue }
    /** Looked at before each iteration; it sees the body's steps as the last iteration left them. */
    | { kind: "while"; condition: CompiledCondition };
  steps: readonly CompiledStep[];
  maxIterations: number;
}

export interface CompiledAgentStep extends CompiledStepBase {
  type: "agent";
  /** An object of agentId, input, userMessage and overrides, as far as they are given. */
  question: CompiledValue;
}

export interface CompiledApprovalStep extends CompiledStepBase {
  type: "approval";
  message: CompiledValue;
  /** Who may decide; undefined: everyone with the scope. */
  approvers:
    { users: readonly string[]; roles: readonly string[]; apiKeys: readonly string[] } | undefined;
  /** How long people have; undefined: for ever. */
  decisionTimeoutMs: number | undefined;
  onTimeout: "fail" | "approve" | "reject";
  /** JSON Schema of the decision's data. */
  form: JsonObject | undefined;
}

export interface CompiledWorkflowStep extends CompiledStepBase {
  type: "workflow";
  workflowId: CompiledValue;
  /** Undefined: an empty object. */
  input: CompiledValue | undefined;
  /** Whether the step waits for the run that it starts. */
  wait: boolean;
}

/** Every step there is: an interpreter's switch over `type` closes with never. */
export type CompiledStep =
  | CompiledActionStep
  | CompiledAgentStep
  | CompiledApprovalStep
  | CompiledConditionStep
  | CompiledDelayStep
  | CompiledEmailStep
  | CompiledLoopStep
  | CompiledParallelStep
  | CompiledTransformStep
  | CompiledWorkflowStep;
