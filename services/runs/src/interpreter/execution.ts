import type { Fairness } from "@workflow/service";
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

/** What a sequence of steps, or one step, came to. */
export type Outcome =
  | { kind: "done"; output: StepOutput }
  | { kind: "failed"; error: ExecutionError }
  /** A `workflow.respond` has ended the run with this output. */
  | { kind: "responded"; output: unknown };

/** What `{{loop.…}}` shows: the item and number, from 0, of the iteration around a step. */
export interface LoopScope {
  item: unknown;
  index: number;
}

/**
 * What the interpreter works with. Nested steps get one of their own, with what is different for them
 * and the rest the same.
 */
export interface Execution {
  /** Their `traceparent` is of the innermost span: a step's, for what it calls and what is nested in it. */
  readonly facts: RunFacts;
  readonly definition: CompiledDefinition;
  readonly scope: TemplateScope;
  /** What the scope's `steps` shows: filled in as steps end. */
  readonly stepScopes: StepScopes;
  readonly journal: RunJournal;
  /** What the run takes of its worker's memory. */
  readonly memory: RunMemory;
  /** What steps are likely to bring. */
  readonly estimates: OutputEstimates;
  /** Which outputs are in memory. */
  readonly outputs: StepOutputs;
  readonly fibers: Fibers;
  readonly effects: StepEffects;
  readonly tracer: Tracer | undefined;
  readonly spans: SpanBudget;
  readonly stepObserver: StepObserver | undefined;
  readonly fairness: Fairness;
  /** That of the database: what is due is due by it. */
  readonly clock: Clock;
  /** Removes secrets from what is stored; null when the run uses none (D19). */
  readonly scrubber: Scrubber | null;
  /** Gives leave to use secrets that are bound to hosts; the scope's `secrets` refuses them (D66). */
  readonly bonds: SecretBonds;
  /** Aborted when the execution must stop: lease lost, cancelled, or the run's time is up. */
  readonly stop: AbortSignal;
  /** Aborted when this fiber must stop: as `stop`, or because a step around it has been decided. */
  readonly signal: AbortSignal;
  /**
   * Which attempts of the containers around the steps this is; empty for the first of each. Effects
   * made under another attempt are other effects.
   */
  readonly attemptTag: string;
}

/** What is different for nested steps. */
export interface Nesting {
  /** Path of the enclosing step with a dot at the end, and what is between (D26). */
  prefix: string;
  /** Where the nested steps show what they did; the container absorbs it, however they end. */
  stepScopes: StepScopes;
  /** Undefined: that of the steps around. */
  loop?: LoopScope;
  /** Undefined: that of the steps around. */
  signal?: AbortSignal;
}

/** Runs nested steps in order, for the steps that hold them. */
export type RunNested = (
  execution: Execution,
  steps: readonly CompiledStep[],
  nesting: Nesting,
) => Promise<Outcome>;

/** One attempt of a step, as its executor gets it. */
export interface Attempt {
  /** The step's path (D26). */
  readonly path: string;
  /** Stays the same when another worker makes this very attempt once more. */
  readonly key: string;
  /** Shows the resolved config in the record: JSON text with secrets masked; null takes it back. */
  readonly showInput: (resolved: string | null) => void;
  /** To be told of the bytes that come in while the attempt goes on. */
  readonly takeRoom: TakeRoom;
  readonly runNested: RunNested;
}

/**
 * Counts bytes that have come in. While the promise is pending that it may give, no more are to be taken:
 * the worker has no memory for them.
 */
export type TakeRoom = (bytes: number) => Promise<void> | undefined;

/** A step that did its work. */
export interface StepCompletion {
  kind: "completed";
  output: unknown;
  /** The output as JSON text fit for storing. */
  outputText: string;
  /** Whether it had an effect outside, so that its result is written before the next step begins. */
  effect: boolean;
}

/** What a step came to: its own end, or that something in it has ended or failed the run. */
export type StepOutcome = StepCompletion | Exclude<Outcome, { kind: "done" }>;
