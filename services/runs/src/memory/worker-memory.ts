import type { RunMemory } from "./run-memory.ts";

/** How much of a process's memory a value takes for each byte of its JSON text; strings take 1. */
const MEMORY_PER_BYTE = 3;
/** How often waiting requests are checked when nothing reports freed memory. */
const CHECK_MS = 100;
/** After this time without freed memory one request goes on even though some steps work. */
const STALL_MS = 5_000;

/** The options of a worker's memory. */
export interface WorkerMemoryOptions {
  /** Bytes of the process for what runs hold. */
  bytesMax: number;
}

interface Request {
  holder: Holder;
  bytes: number;
  admit: () => void;
}

interface Holder {
  companyId: string;
  bytes: number;
  /** How many of its requests wait. */
  requests: number;
  /** Steps under way, those that wait for memory included. */
  steps: number;
  onPressure: (() => void) | null;
}

/**
 * The memory that the runs of a worker share. A run that needs more than there is waits. The next to go
 * on is of the company that holds the least, and within a company the first (D57). Before anybody waits,
 * all runs drop what they can read again. A run that waits keeps what it has. So all might wait for each
 * other, or for a step that takes long. Then one goes on nevertheless, and exceeds the limit by what it
 * asked for.
 */
export class WorkerMemory {
  readonly #bytesMax: number;
  readonly #holders = new Set<Holder>();
  readonly #byCompany = new Map<string, number>();
  #requests: Request[] = [];
  #bytes = 0;
  #isPressing = false;
  /** The last time that a request was admitted or memory was freed. */
  #movedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor({ bytesMax }: WorkerMemoryOptions) {
    this.#bytesMax = Math.max(1, Math.floor(bytesMax / MEMORY_PER_BYTE));
  }

  /** Bytes of JSON text that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many requests wait. */
  get waiting(): number {
    return this.#requests.length;
  }

  /** @param signal ends the waits of this run */
  open(companyId: string, signal: AbortSignal): RunMemory {
    const holder: Holder = { companyId, bytes: 0, requests: 0, steps: 0, onPressure: null };
    this.#holders.add(holder);
    const isOpen = (): boolean => this.#holders.has(holder);
    return {
      get onPressure() {
        return holder.onPressure;
      },
      set onPressure(callback) {
        holder.onPressure = callback;
      },
      grow: (bytes) => {
        if (!isOpen()) return;
        this.#count(holder, bytes);
        if (this.#bytes > this.#bytesMax) this.#press();
      },
      shrink: (bytes) => {
        if (!isOpen()) return;
        this.#count(holder, -bytes);
        this.#move();
      },
      reserve: (bytes, also) =>
        this.#reserve(holder, bytes, also === undefined ? [signal] : [signal, also]),
      offer: () => this.#move(),
      stepBegins: () => {
        holder.steps += 1;
      },
      stepEnds: () => {
        holder.steps -= 1;
        this.#move();
      },
      close: () => {
        if (!isOpen()) return;
        this.#count(holder, -holder.bytes);
        holder.onPressure = null;
        this.#holders.delete(holder);
        // Nobody would give back memory that a closed run is granted after this.
        for (const request of this.#requests.filter((each) => each.holder === holder)) {
          this.#forget(request);
          request.admit();
        }
        this.#move();
      },
    };
  }

  async #reserve(holder: Holder, bytes: number, signals: readonly AbortSignal[]): Promise<void> {
    for (const signal of signals) signal.throwIfAborted();
    if (this.#requests.length === 0 && this.#hasRoomFor(bytes)) return this.#count(holder, bytes);
    const admitted = Promise.withResolvers<void>();
    const request = { holder, bytes, admit: admitted.resolve };
    const onAbort = ({ target }: Event): void => {
      this.#forget(request);
      admitted.reject(asError(target instanceof AbortSignal ? target.reason : target));
      this.#admitNext();
    };
    for (const signal of signals) signal.addEventListener("abort", onAbort, { once: true });
    holder.requests += 1;
    this.#requests.push(request);
    this.#admitNext();
    try {
      await admitted.promise;
    } finally {
      for (const signal of signals) signal.removeEventListener("abort", onAbort);
    }
  }

  #move(): void {
    if (this.#requests.length > 0 && !this.#isPressing) this.#admitNext();
  }

  #admitNext(): void {
    for (let next = this.#nextRequest(); next !== undefined; next = this.#nextRequest()) {
      if (!this.#hasRoomFor(next.bytes) && !this.#mayForce()) break;
      this.#forget(next);
      this.#count(next.holder, next.bytes);
      this.#movedAt = performance.now();
      next.admit();
    }
    this.#watch();
  }

  /** The first request of the company that holds the least. */
  #nextRequest(): Request | undefined {
    let next: Request | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const request of this.#requests) {
      const held = this.#byCompany.get(request.holder.companyId) ?? 0;
      if (held < fewest) [next, fewest] = [request, held];
    }
    return next;
  }

  #hasRoomFor(bytes: number): boolean {
    if (this.#bytes + bytes <= this.#bytesMax) return true;
    this.#press();
    return this.#bytes + bytes <= this.#bytesMax;
  }

  /**
   * Whether one request may go on beyond the limit: all runs that hold memory wait for more, or nothing
   * moves.
   */
  #mayForce(): boolean {
    return !this.#isAnyAtWork() || performance.now() - this.#movedAt > STALL_MS;
  }

  #isAnyAtWork(): boolean {
    for (const { bytes, requests, steps } of this.#holders) {
      if (steps > requests || (bytes > 0 && steps === 0 && requests === 0)) return true;
    }
    return false;
  }

  #press(): void {
    if (this.#isPressing) return;
    this.#isPressing = true;
    for (const { onPressure } of this.#holders) onPressure?.();
    this.#isPressing = false;
  }

  #count(holder: Holder, bytes: number): void {
    holder.bytes += bytes;
    this.#bytes += bytes;
    if (bytes < 0) this.#movedAt = performance.now();
    const held = (this.#byCompany.get(holder.companyId) ?? 0) + bytes;
    if (held === 0) this.#byCompany.delete(holder.companyId);
    else this.#byCompany.set(holder.companyId, held);
  }

  #forget(request: Request): void {
    if (!this.#requests.includes(request)) return;
    request.holder.requests -= 1;
    this.#requests = this.#requests.filter((each) => each !== request);
  }

  #watch(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#requests.length === 0) return;
    this.#timer = setTimeout(() => this.#admitNext(), CHECK_MS).unref();
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error("aborted", { cause: reason });
}
