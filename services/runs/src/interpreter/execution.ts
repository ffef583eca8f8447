import type { CompiledDefinition, CompiledStep, TemplateScope } from "@workflow/definition";
import type { ExecutionError } from "../engine/journal.ts";
import type { RunFacts } from "../domain/run-facts.ts";
import type { StepEffects } from "./effects.ts";
import type { RunJournal } from "./run-journal.ts";

/** What a sequence of steps, or one step, came to. */
export type Outcome =
  | { kind: "done"; output: unknown }
  /** Something in it waits; `long` says that the run counts as suspended meanwhile (D17). */
  | { kind: "waiting"; dueAt: Date | null; long: boolean }
  | { kind: "failed"; error: ExecutionError };

/** What the interpreter works with; the same for every step of a run. */
export interface Execution {
  readonly facts: RunFacts;
  readonly definition: CompiledDefinition;
  readonly scope: TemplateScope;
  /** What the scope's `steps` shows: filled in as steps end. */
  readonly stepScope: Map<string, StepScope>;
  readonly journal: RunJournal;
  readonly effects: StepEffects;
  /** Aborted when the execution must stop: lease lost, cancelled, or the run's time is up. */
  readonly signal: AbortSignal;
  /** Called when a write that nobody waits for was refused. */
  readonly onStop: () => void;
}

/**
 * Runs nested steps in order, for the steps that hold them.
 *
 * @param prefix path of the enclosing step with a dot at the end (D26)
 */
export type RunNested = (steps: readonly CompiledStep[], prefix: string) => Promise<Outcome>;

/** What templates see of a step that has ended. */
export interface StepScope {
  output: unknown;
  error: ExecutionError | null;
  status: "success" | "error" | "skipped";
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

/** What a step came to: its own end, or that something in it waits or has failed the run. */
export type StepOutcome = StepCompletion | Exclude<Outcome, { kind: "done" }>;
