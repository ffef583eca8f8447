import type { CompiledDefinition, CompiledStep, TemplateScope } from "@workflow/definition";
import type { ExecutionError } from "../domain/execution-error.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import type { StepEffects } from "./effects.ts";
import type { RunJournal } from "./run-journal.ts";
import type { StepScopes } from "./step-scopes.ts";
import type { Strands } from "./strands.ts";

/** What a sequence of steps, or one step, came to. */
export type Outcome =
  | { kind: "done"; output: unknown }
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
  readonly facts: RunFacts;
  readonly definition: CompiledDefinition;
  readonly scope: TemplateScope;
  /** What the scope's `steps` shows: filled in as steps end. */
  readonly stepScopes: StepScopes;
  readonly journal: RunJournal;
  readonly strands: Strands;
  readonly effects: StepEffects;
  readonly fairness: Fairness;
  /** Removes secrets from what is stored; null when the run uses none (D19). */
  readonly scrubber: Scrubber | null;
  /** Aborted when the execution must stop: lease lost, cancelled, or the run's time is up. */
  readonly stop: AbortSignal;
  /** Aborted when this strand must stop: as `stop`, or because a step around it has been decided. */
  readonly signal: AbortSignal;
  /**
   * Which attempts of the containers around the steps this is; empty for the first of each. Effects
   * made under another attempt are other effects.
   */
  readonly attemptTag: string;
}

/** Lets other runs of the process have their turn. */
export interface Fairness {
  /** Resolves at once, or in the next turn when this run has held the event loop for long. */
  turn(): Promise<void> | undefined;
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
  /** Shows the resolved config in the record: JSON text with secrets masked. */
  readonly showInput: (resolved: string) => void;
  readonly runNested: RunNested;
}

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
