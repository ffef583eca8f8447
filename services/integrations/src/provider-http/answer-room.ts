import { Turns } from "@workflow/async";

/** Memory for the large ones among some answers. */
export interface AnswerRoom {
  /** Counts bytes that arrived; a promise while they have to wait for memory. */
  take(bytes: number): Promise<void> | undefined;
  /** Releases the memory. */
  leave(): void;
}

/** The company of the answers, and their limit. */
export interface RoomRequest {
  companyId: string;
  /** The most bytes of all the answers together. */
  bytesMax: number;
  signal?: AbortSignal | undefined;
}

const MIB = 1024 * 1024;
/** The bytes that answers may have without reserving memory. */
const SMALL_BYTES = 64 * 1024;
/** The bytes that answers get first. Most need no more. */
const SOME_BYTES = MIB;
/**
 * Bytes of answers in memory at the same time, decoded ones included: 96 MiB in all, and half of it for one
 * company. Parsed they are some five times as much; empty objects alone would be twenty times their text.
 */
const SOME = { total: 32 * MIB, perTenant: 16 * MIB } as const;
const MOST = { total: 64 * MIB, perTenant: 32 * MIB } as const;

/** Reserves memory of the process for answers. */
export class AnswerRooms {
  readonly #some = new Turns(SOME);
  readonly #most = new Turns(MOST);

  /** A room without any memory yet; small answers never need more. */
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
  /** Bytes that may arrive until the next step. */
  suffices: number;
}

/**
 * A room that grows in steps. While it waits for the last step it holds the one before, and with that it
 * waits for nothing more. So rooms never wait for each other.
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

  /** While no memory is free for a large answer, its reader waits (and its timeout goes on). */
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
