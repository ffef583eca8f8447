import type { experimental } from "@grpc/grpc-js";
import { previousAttempts, takeAffinityKey } from "./affinity.ts";
import { hashText, scoreOf } from "./rendezvous.ts";

/**
 * A caller's calls about one thing that may be in flight at its replica before the next replica gets the others.
 * A warm read of a table takes some 3 ms, so the last of them waits about 0.1 s. A second copy of a large
 * table's columns costs 0.3 s of processor time, and memory (ADR 75).
 */
export const IN_FLIGHT_MAX = 32;

/** A replica that is connected, or was. */
export class Replica {
  /** The address, the same in every process that calls it. */
  readonly name: string;
  readonly hash: number;
  /** Key → this process's calls in flight; only keys with calls are here. */
  readonly #inFlight = new Map<string, number>();

  constructor(name: string) {
    this.name = name;
    this.hash = hashText(name);
  }

  inFlight(key: string): number {
    return this.#inFlight.get(key) ?? 0;
  }

  /** Makes a pick count as in flight from the start of its call until the end. */
  counted(key: string, pick: experimental.PickResult): experimental.PickResult {
    return {
      ...pick,
      onCallStarted: () => {
        this.#add(key, 1);
        pick.onCallStarted?.();
      },
      onCallEnded: (...end) => {
        this.#add(key, -1);
        pick.onCallEnded?.(...end);
      },
    };
  }

  #add(key: string, change: number): void {
    const count = this.inFlight(key) + change;
    if (count > 0) this.#inFlight.set(key, count);
    else this.#inFlight.delete(key);
  }
}

/** A replica that takes calls, and how grpc-js picks its connection. */
export interface ReadyReplica {
  readonly replica: Replica;
  readonly picker: experimental.Picker;
}

/**
 * Picks among the replicas that are connected. Calls without a key go to each in turn. Calls with a
 * key go to the first replica by rendezvous hashing that has room for the key. A repeated call
 * begins with the replica after the first.
 */
export class AffinePicker implements experimental.Picker {
  readonly #ready: readonly ReadyReplica[];
  #turn: number;

  /** @param turn a number that says whose turn it is first, so that new pickers do not all begin with one */
  constructor(ready: readonly ReadyReplica[], turn: number) {
    this.#ready = ready;
    this.#turn = turn;
  }

  pick(call: experimental.PickArgs): experimental.PickResult {
    const key = takeAffinityKey(call.metadata);
    if (key === undefined || this.#ready.length === 1) return this.#next().picker.pick(call);
    const ranked = this.#rank(key);
    const { replica, picker } = roomiest(ranked, key, previousAttempts(call.metadata));
    return replica.counted(key, picker.pick(call));
  }

  #next(): ReadyReplica {
    const next = this.#ready[this.#turn % this.#ready.length];
    if (next === undefined) throw new Error("There is no replica to pick.");
    this.#turn += 1;
    return next;
  }

  #rank(key: string): ReadyReplica[] {
    const keyHash = hashText(key);
    return this.#ready
      .map((ready) => ({ ready, score: scoreOf(ready.replica.hash, keyHash) }))
      .sort((a, b) => b.score - a.score || (a.ready.replica.name < b.ready.replica.name ? -1 : 1))
      .map(({ ready }) => ready);
  }
}

/** The first with room from `start` on, around the end; where none has room, the one with the fewest calls. */
function roomiest(ranked: readonly ReadyReplica[], key: string, start: number): ReadyReplica {
  let found: ReadyReplica | undefined;
  for (let step = 0; step < ranked.length; step += 1) {
    const next = ranked[(start + step) % ranked.length];
    if (next === undefined) break;
    if (next.replica.inFlight(key) < IN_FLIGHT_MAX) return next;
    if (found === undefined || next.replica.inFlight(key) < found.replica.inFlight(key)) {
      found = next;
    }
  }
  if (found === undefined) throw new Error("There is no replica to pick.");
  return found;
}
