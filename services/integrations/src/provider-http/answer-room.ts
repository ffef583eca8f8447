import { Turns } from "@workflow/service";

/** Memory for the large ones among some answers. */
export interface AnswerRoom {
  /** Counts bytes that came in; a promise while they have to wait for room. */
  take(bytes: number): Promise<void> | undefined;
  /** The answers are let go of. */
  leave(): void;
}

/** Whose answers, and how much they may have. */
export interface RoomRequest {
  companyId: string;
  /** Of all the answers together. */
  bytesMax: number;
  signal?: AbortSignal | undefined;
}

const MIB = 1024 * 1024;
/** What answers may have without asking for room. */
const SMALL_BYTES = 64 * 1024;
/** What answers get first, and most need no more. */
const SOME_BYTES = MIB;
/**
 * Bytes of answers in memory at the same time, decoded ones included: 96 MiB in all, and half of it for one
 * company. Parsed they are some five times as much; empty objects alone would be twenty times their text.
 */
const SOME = { total: 32 * MIB, perTenant: 16 * MIB } as const;
const MOST = { total: 64 * MIB, perTenant: 32 * MIB } as const;

/** Gives rooms in the memory of a process. */
export class AnswerRooms {
  readonly #some = new Turns(SOME);
  readonly #most = new Turns(MOST);

  /** A room that holds nothing yet; small answers never ask for more. */
  open({ companyId, bytesMax, signal }: RoomRequest): AnswerRoom {
    const steps = [
      { turns: this.#some, bytes: SOME_BYTES, suffices: SOME_BYTES },
      { turns: this.#most, bytes: bytesMax, suffices: Infinity },
    ];
    return new GrowingRoom(steps, companyId, signal);
  }
}

/** What a room takes next. */
interface Step {
  turns: Turns;
  bytes: number;
  /** Bytes that may come in until the next step. */
  suffices: number;
}

/**
 * A room that grows in steps. While it waits for the last one it holds the one before, and with that it waits
 * for nothing more: so rooms never wait for each other.
 */
class GrowingRoom implements AnswerRoom {
  readonly #steps: Step[];
  readonly #companyId: string;
  readonly #signal: AbortSignal | undefined;
  readonly #over = new AbortController();
  #taken = 0;
  #suffices = SMALL_BYTES;
  #growing: Promise<void> | undefined;
  #giveBack: (() => void) | undefined;

  constructor(steps: Step[], companyId: string, signal: AbortSignal | undefined) {
    this.#steps = steps;
    this.#companyId = companyId;
    this.#signal = signal;
  }

  take(bytes: number): Promise<void> | undefined {
    this.#taken += bytes;
    if (this.#taken > this.#suffices) this.#growing ??= this.#grow();
    return this.#growing;
  }

  leave(): void {
    this.#over.abort();
    this.#giveBack?.();
    this.#giveBack = undefined;
  }

  /** While nobody has room for a large answer, its sender waits (and its time goes on). */
  async #grow(): Promise<void> {
    const { signal: over } = this.#over;
    const stop = this.#signal === undefined ? over : AbortSignal.any([this.#signal, over]);
    while (this.#taken > this.#suffices) {
      const step = this.#steps.shift();
      if (step === undefined) break;
      const giveBack = await step.turns.take(this.#companyId, stop, step.bytes);
      this.#giveBack?.();
      this.#giveBack = giveBack;
      this.#suffices = step.suffices;
      if (over.aborted) this.leave();
    }
    this.#growing = undefined;
  }
}
