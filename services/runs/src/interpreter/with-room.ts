import { findProviderAction } from "@workflow/catalog";
import type { CompiledStep } from "@workflow/definition";
import type { RunMemory } from "../memory/run-memory.ts";
import type { Execution, StepOutcome, TakeRoom } from "./execution.ts";

/** The size of the pieces in which memory is reserved for bytes beyond the estimate. */
const PIECE_BYTES = 256 * 1024;

/**
 * Makes an attempt that may bring much, once the worker has memory for the size of the step's last
 * output. That wait comes before the step's own timeout begins. Memory for bytes beyond the estimate is
 * taken as there is room.
 */
export async function withRoom(
  execution: Execution,
  step: CompiledStep,
  attempt: (takeRoom: TakeRoom) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  if (!mayBringMuch(step)) return attempt(() => undefined);
  const { memory, estimates, facts, signal } = execution;
  const key = `${facts.workflowId}:${step.id}`;
  const room = new Room(memory, signal);
  await room.reserve(estimates.bytesOf(key));
  try {
    const outcome = await attempt((bytes) => room.take(bytes));
    if (outcome.kind === "completed") estimates.note(key, outcome.outputText.length);
    return outcome;
  } finally {
    room.leave();
  }
}

/** The memory of one attempt. */
class Room {
  readonly #memory: RunMemory;
  readonly #signal: AbortSignal;
  #reserved = 0;
  #taken = 0;
  #isOver = false;

  constructor(memory: RunMemory, signal: AbortSignal) {
    this.#memory = memory;
    this.#signal = signal;
  }

  async reserve(bytes: number): Promise<void> {
    await this.#memory.reserve(bytes, this.#signal);
    if (this.#isOver) this.#memory.shrink(bytes);
    else this.#reserved += bytes;
  }

  take(bytes: number): Promise<void> | undefined {
    this.#taken += bytes;
    const missing = this.#taken - this.#reserved;
    return missing > 0 ? this.reserve(Math.max(missing, PIECE_BYTES)) : undefined;
  }

  leave(): void {
    this.#isOver = true;
    this.#memory.shrink(this.#reserved);
  }
}

/**
 * Child runs and agents may take long, so no memory is held for them. Their results, at most 10 MiB and 1
 * MiB, are counted when they arrive.
 */
function mayBringMuch(step: CompiledStep): boolean {
  switch (step.type) {
    case "action":
      return (
        step.action === "http.request" ||
        step.action === "table.query" ||
        findProviderAction(step.action) !== undefined
      );
    case "transform":
      return step.transform.kind === "expression";
    default:
      return false;
  }
}
