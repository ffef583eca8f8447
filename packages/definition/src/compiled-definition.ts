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
  /** The keys of all secrets that templates name, in document order, each once. */
  secretKeys: readonly string[];
}

/** The members of every compiled step. Times are in milliseconds. */
export interface CompiledStepBase {
  id: string;
  name: string;
  /**
   * The ids from the top down, with the labels of the blocks between them: cond1, else, child (D26). The body
   * of a loop or of forEach has no label.
   */
  path: readonly string[];
  when: CompiledCondition | undefined;
  /** Undefined: only the timeout of the run applies. */
  timeoutMs: number | undefined;
  /**
   * The step's own retry policy. A step with one effect outside falls back to the workflow's policy.
   * Undefined: one attempt.
   */
  retry: RetryPolicy | undefined;
  onError: "fail" | "continue";
  checkpoint: boolean;
  /**
   * The ids of the steps whose output this step may read, nested steps excepted. `all`: an expression sees
   * every step. Other outputs need not be in memory when the step begins (D56).
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
    /** JSONata source. The expression sees `input`, or the run's scope when that is undefined. */
    | { kind: "expression"; expression: string; input: CompiledValue | undefined };
}

export interface CompiledConditionStep extends CompiledStepBase {
  type: "condition";
  /** The first branch whose condition holds is taken. The form if/then/else has one branch, `then`. */
  branches: readonly CompiledBranch[];
  /** Taken when no condition holds; its label in paths and output is `else`. */
  elseSteps: readonly CompiledStep[];
}

export interface CompiledBranch {
  id: string;
  when: CompiledCondition;
  steps: readonly CompiledStep[];
}

export interface CompiledDelayStep extends CompiledStepBase {
  type: "delay";
  /** A number of milliseconds, or an ISO timestamp. A template may give any value. */
  delay: { kind: "duration"; durationMs: CompiledValue } | { kind: "until"; until: CompiledValue };
}

export interface CompiledEmailStep extends CompiledStepBase {
  type: "email";
  connectionId: CompiledValue | undefined;
  /** An object with to, cc, bcc, from, replyTo, subject, text and html, where given. */
  message: CompiledValue;
  /** An array of files. Files can be far larger than the message, so they are a member of their own. */
  attachments: CompiledValue | undefined;
}

export interface CompiledParallelStep extends CompiledStepBase {
  type: "parallel";
  work:
    | { kind: "branches"; branches: readonly CompiledParallelBranch[] }
    /** Executes the steps once for each item of an array. */
    | { kind: "forEach"; items: CompiledValue; steps: readonly CompiledStep[] };
  strategy: ParallelStrategy;
  /** The branches or items that run at one time. Undefined: the engine's limit. */
  concurrency: number | undefined;
  /** The timeout of all branches together, waiting included. */
  totalTimeoutMs: number | undefined;
}

/** When a parallel step ends, and its result. */
export type ParallelStrategy =
  /** Ends when all branches have ended; fails with the first failure. */
  | "wait-all"
  /** Ends when all branches have ended; never fails. */
  | "wait-all-settled"
  /** Ends with the first branch that completes; fails when all have failed. */
  | "wait-any"
  /** Ends when all branches have completed, or with the first failure. */
  | "fail-fast";

export interface CompiledParallelBranch {
  /** The branch's id; `branch1` and so on where none was given. */
  id: string;
  name: string | undefined;
  steps: readonly CompiledStep[];
}

export interface CompiledLoopStep extends CompiledStepBase {
  type: "loop";
  over:
    | { kind: "items"; items: CompiledValue }
    | { kind: "count"; count: CompiledValue }
    /** Evaluated before each iteration; it sees the body's steps as the last iteration left them. */
    | { kind: "while"; condition: CompiledCondition };
  steps: readonly CompiledStep[];
  maxIterations: number;
}

export interface CompiledAgentStep extends CompiledStepBase {
  type: "agent";
  /** An object of agentId, input, userMessage and overrides, where given. */
  question: CompiledValue;
}

export interface CompiledApprovalStep extends CompiledStepBase {
  type: "approval";
  message: CompiledValue;
  /** The people who may decide. Undefined: everyone with the scope. */
  approvers:
    { users: readonly string[]; roles: readonly string[]; apiKeys: readonly string[] } | undefined;
  /** The time for a decision, in milliseconds. Undefined: no limit. */
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

/** All compiled steps. An interpreter's switch over `type` closes with never. */
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
