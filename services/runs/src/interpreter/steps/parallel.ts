import { evaluate } from "@workflow/definition";
import type { CompiledParallelStep, CompiledStep } from "@workflow/definition";
import { StepError } from "../../domain/step-error.ts";
import { storableJson } from "../../domain/storable-json.ts";
import { BranchCancelled, Parked } from "../control-flow-signals.ts";
import type { Attempt, Execution, LoopScope, Outcome, StepOutcome } from "../execution.ts";
import { NO_OUTPUT } from "../../journal/step-outputs.ts";
import type { StepOutput } from "../../journal/step-outputs.ts";
import { collectOutputs } from "../collect-outputs.ts";
import { countStepsAtLeast, mayRespond } from "../count-steps.ts";
import { followSignal } from "../fibers.ts";
import { completionInTurns } from "../step-output.ts";
import { StepScopes } from "../step-scopes.ts";

/** Branches that run at the same time where the step does not say. */
const CONCURRENCY_DEFAULT = 100;
const ITEMS_MAX = 10_000;
/** Scopes of items that may accumulate before those that nobody will see are dropped. */
const PARALLEL_SCOPES_KEPT = 200;

/** Runs branches, or the same steps for each item of an array, side by side (D17). */
export async function executeParallel(
  execution: Execution,
  step: CompiledParallelStep,
  attempt: Attempt,
): Promise<StepOutcome> {
  const branches = planBranches(execution, step, attempt);
  assertRoom(execution, step, attempt, branches);
  const race = new Race(step.strategy, branches.length);
  const scopes = new BranchScopes(step.work.kind === "forEach");
  // A run that repeats another may have fewer items. Results that it took over of the others are dropped.
  execution.journal.forgetPast(
    attempt.path,
    (part) => typeof part === "number" && part >= branches.length,
  );
  const group = followSignal(execution.signal);
  const { signal } = group.controller;

  const runBranch = async (branch: Branch, position: number): Promise<void> => {
    if (signal.aborted && !execution.journal.isBegunInside(branch.prefix)) return;
    const { steps, prefix, loop } = branch;
    const stepScopes = new StepScopes(execution.stepScopes);
    scopes.add(position, stepScopes);
    const nesting = { prefix, stepScopes, signal, ...(loop === undefined ? {} : { loop }) };
    const outcome = await attempt.runNested(execution, steps, nesting);
    scopes.prune();
    race.arrive(position, outcome);
    if (race.isDecided && !signal.aborted) group.controller.abort(new BranchCancelled());
  };
  try {
    await runAll(execution, branches, step.concurrency ?? CONCURRENCY_DEFAULT, {
      runBranch,
      onFatal: (fatal) => group.controller.abort(fatal),
    });
  } finally {
    group.release();
    scopes.absorbInto(execution.stepScopes);
  }
  const outcome = race.conclude();
  if (outcome.kind !== "done") return outcome;
  const outputs = await collectOutputs(execution.outputs, race.outputs);
  return completionInTurns(execution, outputOf(step, branches, outputs), false);
}

/** Fails a step that needs more steps than the run has left, before it has any effect. */
function assertRoom(
  { journal }: Execution,
  { work, strategy }: CompiledParallelStep,
  { path }: Attempt,
  branches: readonly Branch[],
): void {
  const mayEndEarly =
    strategy === "wait-any" ||
    strategy === "fail-fast" ||
    branches.some(({ steps }) => mayRespond(steps));
  if (mayEndEarly) return;
  const count =
    work.kind === "forEach"
      ? branches.length * countStepsAtLeast(work.steps)
      : branches.reduce((sum, { steps }) => sum + countStepsAtLeast(steps), 0);
  journal.budget.assertRoomInside(path, count);
}

/** The scopes of the branches. Of the items of a forEach only the last one will be seen. */
class BranchScopes {
  readonly #isForEach: boolean;
  #scopes = new Map<number, StepScopes>();

  constructor(isForEach: boolean) {
    this.#isForEach = isForEach;
  }

  add(position: number, scope: StepScopes): void {
    this.#scopes.set(position, scope);
  }

  /** Drops the items before the last one in which any step has ended: they are not seen (D16). */
  prune(): void {
    if (!this.#isForEach || this.#scopes.size < 2 * PARALLEL_SCOPES_KEPT) return;
    const last = this.#inOrder().findLast(([, scope]) => !scope.isEmpty)?.[0] ?? 0;
    for (const position of this.#scopes.keys()) if (position < last) this.#scopes.delete(position);
  }

  absorbInto(around: StepScopes): void {
    const scopes = this.#inOrder().map(([, scope]) => scope);
    if (this.#isForEach) around.absorbLast(scopes);
    else for (const scope of scopes) around.absorb(scope);
  }

  #inOrder(): [number, StepScopes][] {
    return [...this.#scopes].toSorted(([one], [other]) => one - other);
  }
}

interface Branch {
  id: string;
  prefix: string;
  steps: readonly CompiledStep[];
  loop?: LoopScope;
}

function planBranches(
  execution: Execution,
  { work, strategy }: CompiledParallelStep,
  { path, showInput }: Attempt,
): Branch[] {
  if (work.kind === "branches") {
    showInput(JSON.stringify({ strategy, branches: work.branches.map(({ id }) => id) }));
    return work.branches.map(({ id, steps }) => ({ id, steps, prefix: `${path}.${id}.` }));
  }
  const { value, masked } = evaluate(work.items, execution.scope);
  showInput(storableJson({ strategy, forEach: masked }));
  if (!Array.isArray(value)) throw invalid("forEach must be an array.");
  if (value.length > ITEMS_MAX) throw invalid(`forEach may have at most ${ITEMS_MAX} items.`);
  return value.map((item: unknown, index) => ({
    id: String(index),
    steps: work.steps,
    prefix: `${path}[${index}].`,
    loop: { item, index },
  }));
}

interface BranchRunner {
  runBranch: (branch: Branch, position: number) => Promise<void>;
  /** Called with the first error that is no outcome of a branch, so that the others stop. */
  onFatal: (error: unknown) => void;
}

/**
 * Runs branches on so many fibers and waits for all of them, given up ones included. So their records
 * come before the step's own result.
 *
 * @throws the first error that is no outcome of a branch
 */
async function runAll(
  { fibers, stop }: Execution,
  branches: readonly Branch[],
  concurrency: number,
  { runBranch, onFatal }: BranchRunner,
): Promise<void> {
  let next = 0;
  const fatal: unknown[] = [];
  const fiber = async (): Promise<void> => {
    while (next < branches.length && fatal.length === 0) {
      const position = next++;
      const branch = branches[position];
      if (branch === undefined) return;
      try {
        await runBranch(branch, position);
      } catch (error) {
        if (error instanceof BranchCancelled && !stop.aborted) continue;
        fatal.push(error);
        // `Parked` concerns every fiber: the others are rejected with it as well.
        if (!(error instanceof Parked)) onFatal(error);
      }
    }
  };
  const running: Promise<void>[] = [];
  for (let count = 0; count < Math.min(concurrency, branches.length); count++) {
    fibers.enter();
    running.push(fiber().finally(() => fibers.leave()));
  }
  fibers.leave();
  try {
    await Promise.all(running);
  } finally {
    fibers.enter();
  }
  if (fatal.length > 0) throw fatal[0];
}

/** Tracks which branches have ended, and whether that decides the step's outcome. */
class Race {
  readonly #strategy: CompiledParallelStep["strategy"];
  readonly #outcomes: (Outcome | undefined)[];
  #failed = 0;
  #arrived = 0;
  #winner: number | null = null;
  #responded: Outcome | null = null;

  constructor(strategy: CompiledParallelStep["strategy"], branches: number) {
    this.#strategy = strategy;
    this.#outcomes = Array.from<undefined>({ length: branches });
  }

  arrive(position: number, outcome: Outcome): void {
    if (this.isDecided) return;
    this.#outcomes[position] = outcome;
    this.#arrived += 1;
    if (outcome.kind === "responded") this.#responded = outcome;
    if (outcome.kind === "failed") this.#failed += 1;
    if (outcome.kind === "done" && this.#strategy === "wait-any") this.#winner = position;
  }

  get isDecided(): boolean {
    if (this.#responded !== null || this.#winner !== null) return true;
    if (this.#arrived === this.#outcomes.length) return true;
    return this.#strategy === "fail-fast" && this.#failed > 0;
  }

  /** The output of each branch that ended well; undefined for the others. */
  get outputs(): readonly StepOutput[] {
    return this.#outcomes.map((outcome) => (outcome?.kind === "done" ? outcome.output : NO_OUTPUT));
  }

  conclude(): Outcome {
    if (this.#responded !== null) return this.#responded;
    const failure = this.#firstFailure();
    const survives = this.#strategy === "wait-all-settled" || this.#winner !== null;
    if (failure === undefined || survives) return { kind: "done", output: NO_OUTPUT };
    return failure;
  }

  /** A branch that was given up before a crash does not say why. */
  #firstFailure(): Outcome | undefined {
    const failures = this.#outcomes.filter((outcome) => outcome?.kind === "failed");
    return failures.find(({ error }) => error.code !== "CANCELLED") ?? failures[0];
  }
}

/** `{branches: {<id>: output}}` for branches, an array for items; null where one did not end well. */
function outputOf(
  { work }: CompiledParallelStep,
  branches: readonly Branch[],
  outputs: readonly unknown[],
): unknown {
  const values = branches.map((_, position) => outputs[position] ?? null);
  if (work.kind === "forEach") return values;
  return {
    branches: Object.fromEntries(branches.map(({ id }, position) => [id, values[position]])),
  };
}

function invalid(message: string): StepError {
  return new StepError("INVALID_INPUT", message, { retryable: false });
}
