import type { Clock } from "../../src/rate-limits/clock.ts";

/** What happens in one turn of a gateway's event loop comes in this order: as in Node, timers before messages and requests. */
const ORDER = { world: 0, timer: 1, soon: 2, message: 3, request: 3 } as const;

interface Happening {
  at: number;
  /** When it came, if the process stood still then. */
  dueAt: number;
  kind: keyof typeof ORDER;
  number: number;
  process: SimulatedProcess | null;
  run: () => void;
}

/** A process of the simulation. While it stands still, what happens to it waits. */
export class SimulatedProcess {
  isDead = false;
  stillUntil = 0;
  /** Until then messages to it and from it are lost. */
  cutUntil = 0;
  /** How long a turn of its event loop takes, in milliseconds. */
  turnMs = 0;
  /** To the server, and back, in milliseconds. */
  delays = { up: 1, down: 1 };
  /** When what was sent last arrives: each way keeps its order. */
  arrives = { up: 0, down: 0 };
  readonly clock: Clock;

  constructor(world: SimulatedWorld) {
    this.clock = {
      now: () => world.now,
      after: (ms, run) => {
        let isCancelled = false;
        world.plan(world.now + Math.max(1, ms), "timer", this, () => {
          if (!isCancelled) run();
        });
        return () => {
          isCancelled = true;
        };
      },
      soon: (run) => world.plan(world.now + this.turnMs, "soon", this, run),
    };
  }
}

/** One time for all, in which processes do things one after the other. It takes as long as the processor needs. */
export class SimulatedWorld {
  now = 0;
  /** Whose turn it is. */
  current: SimulatedProcess | null = null;
  readonly #heap: Happening[] = [];
  #number = 0;

  plan(
    at: number,
    kind: keyof typeof ORDER,
    process: SimulatedProcess | null,
    run: () => void,
  ): void {
    this.#number += 1;
    this.#push({ at, dueAt: at, kind, number: this.#number, process, run });
  }

  /** Lets everything happen until a moment. */
  async runUntil(end: number): Promise<void> {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > end) break;
      this.#pop();
      const { process } = next;
      if (process?.isDead === true) continue;
      if (process !== null && process.stillUntil > next.at) {
        this.#push({ ...next, at: process.stillUntil });
        continue;
      }
      this.now = next.at;
      this.current = process;
      next.run();
      await settled();
    }
    this.now = end;
    this.current = null;
  }

  #push(happening: Happening): void {
    const heap = this.#heap;
    let index = heap.push(happening) - 1;
    for (let parent = (index - 1) >> 1; index > 0; parent = (index - 1) >> 1) {
      const above = heap[parent];
      if (above === undefined || !isBefore(happening, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = happening;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const [left, right] = [heap[child], heap[child + 1]];
      if (left === undefined) break;
      let smaller = left;
      if (right !== undefined && isBefore(right, left)) [smaller, child] = [right, child + 1];
      if (!isBefore(smaller, last)) break;
      heap[index] = smaller;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(one: Happening, other: Happening): boolean {
  if (one.at !== other.at) return one.at < other.at;
  if (ORDER[one.kind] !== ORDER[other.kind]) return ORDER[one.kind] < ORDER[other.kind];
  if (one.dueAt !== other.dueAt) return one.dueAt < other.dueAt;
  return one.number < other.number;
}

/** When promises have nothing more to do: the queue of ticks is looked at after theirs is empty. */
function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
