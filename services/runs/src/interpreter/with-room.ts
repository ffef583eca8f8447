import { findProviderAction } from "@workflow/catalog";
import type { CompiledStep } from "@workflow/definition";
import type { RunMemory } from "../memory/run-memory.ts";
import type { Execution, StepOutcome, TakeRoom } from "./execution.ts";

/** What more comes in than was expected is reserved in pieces of so many bytes. */
const PIECE_BYTES = 256 * 1024;

/**
 * Makes an attempt that may bring much once the worker has memory for as much as the step brought last.
 * That wait is before it, and not part of the step's own time; what comes beyond is taken as there is room.
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

/** What one attempt has of its worker's memory. */
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
 * Child runs and agents may take long, so nothing is held for them; what they return, 10 MiB at most and
 * 1 MiB, is counted when it comes.
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
