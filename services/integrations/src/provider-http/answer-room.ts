import { Turns } from "@workflow/async";

/** Memory for the answers of one piece of work. Small answers need none. */
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
/** The bytes that answers may have without reserved memory. */
const SMALL_BYTES = 64 * 1024;
/** The bytes that a room reserves first; most answers need no more. */
const SOME_BYTES = MIB;
/**
 * The limit of bytes of answers in memory, decoded ones included: 96 MiB in all, and half of it for one
 * company. A parsed answer takes some five times its bytes; empty objects alone would take twenty
 * times.
 */
const SOME = { total: 32 * MIB, perTenant: 16 * MIB } as const;
const MOST = { total: 64 * MIB, perTenant: 32 * MIB } as const;

/** Reserves memory of the process for answers. */
export class AnswerRooms {
  readonly #some = new Turns(SOME);
  readonly #most = new Turns(MOST);

  /** Opens a room without reserved memory; small answers never need any. */
  open({ companyId, bytesMax, signal }: RoomRequest): AnswerRoom {
    const steps = [
      { turns: this.#some, bytes: SOME_BYTES, suffices: SOME_BYTES },
      { turns: this.#most, bytes: bytesMax, suffices: Infinity },
    ];
    return new GrowingRoom(steps, companyId, signal);
  }
}

/** The next step of a room's growth. */
interface Step {
  turns: Turns;
  bytes: number;
  /** Bytes that may arrive until the next step. */
  suffices: number;
}

/**
 * A room that grows in two steps. A room that waits for the last step holds the first one and never
 * waits again, so rooms cannot deadlock.
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

  /** A reader waits while there is no memory for a large answer, and its timeout continues. */
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
