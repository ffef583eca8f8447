import type { Fairness } from "@workflow/async";
import type { CompiledDefinition, CompiledStep, TemplateScope } from "@workflow/definition";
import type { Clock } from "../domain/clock.ts";
import type { ExecutionError } from "../domain/execution-error.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import type { RunJournal } from "../journal/run-journal.ts";
import type { OutputEstimates } from "../memory/output-estimates.ts";
import type { RunMemory } from "../memory/run-memory.ts";
import type { SecretBonds } from "../secrets/bound-secrets.ts";
import type { Scrubber } from "@workflow/scrubber";
import type { Tracer } from "@workflow/tracing";
import type { StepOutput, StepOutputs } from "../journal/step-outputs.ts";
import type { StepEffects } from "./effects/step-effects.ts";
import type { Fibers } from "./fibers.ts";
import type { StepObserver } from "./step-observer.ts";
import type { StepScopes } from "./step-scopes.ts";
import type { SpanBudget } from "./span-budget.ts";

/** The outcome of a sequence of steps, or of one step. */
export type Outcome =
  | { kind: "done"; output: StepOutput }
  | { kind: "failed"; error: ExecutionError }
  /** A `workflow.respond` has ended the run with this output. */
  | { kind: "responded"; output: unknown };

/** The value of `{{loop.…}}`: the item and number, from 0, of the iteration around a step. */
export interface LoopScope {
  item: unknown;
  index: number;
}

/** The context in which steps are interpreted. Nested steps get a copy with what differs for them. */
export interface Execution {
  /** The `traceparent` is that of the innermost span: for calls and nested steps it is the step's. */
  readonly facts: RunFacts;
  readonly definition: CompiledDefinition;
  readonly scope: TemplateScope;
  /** The value of `steps` in the scope, filled in as steps end. */
  readonly stepScopes: StepScopes;
  readonly journal: RunJournal;
  /** The run's share of its worker's memory. */
  readonly memory: RunMemory;
  /** Estimates how large the outputs of steps will be. */
  readonly estimates: OutputEstimates;
  /** Keeps track of the outputs that are in memory. */
  readonly outputs: StepOutputs;
  readonly fibers: Fibers;
  readonly effects: StepEffects;
  readonly tracer: Tracer | undefined;
  readonly spans: SpanBudget;
  readonly stepObserver: StepObserver | undefined;
  readonly fairness: Fairness;
  /** The database's clock, by which waits are due. */
  readonly clock: Clock;
  /** Removes secrets from what is stored; null when the run uses none (D19). */
  readonly scrubber: Scrubber | null;
  /** Permits the use of secrets that are bound to hosts; the scope's `secrets` refuses them (D66). */
  readonly bonds: SecretBonds;
  /**
   * Aborted when the execution must stop: the lease is lost, the run is cancelled, or its timeout is
   * over.
   */
  readonly stop: AbortSignal;
  /** Aborted when this fiber must stop: as `stop`, or because a step around it has its outcome. */
  readonly signal: AbortSignal;
  /**
   * The attempts of the containers around the steps; empty for the first of each. Effects under another
   * attempt are other effects.
   */
  readonly attemptTag: string;
}

/** What differs for nested steps. */
export interface Nesting {
  /** Path of the enclosing step with a dot at the end, and the branch or iteration between (D26). */
  prefix: string;
  /** Collects what the nested steps did. The container absorbs it, however they end. */
  stepScopes: StepScopes;
  /** Undefined: that of the enclosing steps. */
  loop?: LoopScope;
  /** Undefined: that of the enclosing steps. */
  signal?: AbortSignal;
}

/** Runs nested steps in order, for containers. */
export type RunNested = (
  execution: Execution,
  steps: readonly CompiledStep[],
  nesting: Nesting,
) => Promise<Outcome>;

/** One attempt of a step, as its executor gets it. */
export interface Attempt {
  /** The step's path (D26). */
  readonly path: string;
  /** Stays the same when another worker repeats this very attempt. */
  readonly key: string;
  /** Shows the resolved config in the record: JSON text with secrets masked; null removes it. */
  readonly showInput: (resolved: string | null) => void;
  /** Called with the bytes that arrive while the attempt goes on. */
  readonly takeRoom: TakeRoom;
  readonly runNested: RunNested;
}

/**
 * Counts bytes that have arrived. While the returned promise is pending no more may be taken, since the
 * worker has no memory for them.
 */
export type TakeRoom = (bytes: number) => Promise<void> | undefined;

/** A step that completed. */
export interface StepCompletion {
  kind: "completed";
  output: unknown;
  /** The output as JSON text fit for storing. */
  outputText: string;
  /**
   * Whether the step had an outside effect, so that its result is written before the next step begins.
   */
  effect: boolean;
}

/** The outcome of a step: its own end, or that a nested step has ended or failed the run. */
export type StepOutcome = StepCompletion | Exclude<Outcome, { kind: "done" }>;
