/** Who of the gateways answers for a group of windows: the first one, and the next when it is gone. */
export interface Responsible {
  readonly home: string;
  /** Null when there is one gateway only. */
  readonly deputy: string | null;
}

/** A gateway that was not heard for so long is gone. */
const SILENCE_MS = 3_000;
/** No message of a gateway that has said goodbye is under way for so long. */
const FAREWELL_MS = 60_000;

/**
 * The gateways that share limits, as far as this one knows. Each works out by itself who is responsible for
 * what, by rendezvous hashing: when one joins or leaves, only what is its own moves, and to the next in order.
 */
export class Members {
  readonly self: string;
  /** Grows with every change, so that what was worked out before can be told from what holds. */
  epoch = 0;
  /** Grows when some may have missed what they were told. */
  era = 0;
  readonly #hashOfSelf: number;
  readonly #others = new Map<string, { hash: number; heardAt: number }>();
  /** Those that have said goodbye, and when. */
  readonly #left = new Map<string, number>();

  constructor(self: string) {
    this.self = self;
    this.#hashOfSelf = hashOf(self);
  }

  get isAlone(): boolean {
    return this.#others.size === 0;
  }

  /** All of them, this one included. */
  get size(): number {
    return this.#others.size + 1;
  }

  /** The addresses of all but this one. */
  others(): string[] {
    return [...this.#others.keys()];
  }

  /** Notes that somebody lives. True for a newcomer. */
  hear(address: string, now: number): boolean {
    const known = this.#others.get(address);
    if (known !== undefined) known.heardAt = now;
    else {
      this.#others.set(address, { hash: hashOf(address), heardAt: now });
      this.epoch += 1;
    }
    return known === undefined;
  }

  /** Notes that somebody is gone. False for one that is not known. */
  lose(address: string): boolean {
    const isKnown = this.#others.delete(address);
    if (isKnown) this.beginEra();
    return isKnown;
  }

  /** Notes a goodbye: what still comes from there brings nobody back. False for one that is not known. */
  leave(address: string, now: number): boolean {
    for (const [other, at] of this.#left) if (now - at > FAREWELL_MS) this.#left.delete(other);
    this.#left.set(address, now);
    return this.lose(address);
  }

  /** True for one that has said goodbye; an address is never used again. */
  hasLeft(address: string): boolean {
    return this.#left.has(address);
  }

  /** Somebody may have missed what it was told. */
  beginEra(): void {
    this.epoch += 1;
    this.era += 1;
  }

  /** Those that were heard too long ago. */
  silent(now: number): string[] {
    const isSilent = ([, { heardAt }]: [string, { heardAt: number }]): boolean =>
      now - heardAt > SILENCE_MS;
    return [...this.#others].filter(isSilent).map(([address]) => address);
  }

  /** The deputy, unless it was last heard so much earlier than the home that it is rather the deputy who is gone. */
  likelier(home: string, deputy: string): string {
    const heardAt = (address: string): number => this.#others.get(address)?.heardAt ?? 0;
    return heardAt(home) - heardAt(deputy) > SILENCE_MS / 2 ? home : deputy;
  }

  /** Gives everybody time again: while there was no connection nobody could be heard. */
  forgive(now: number): void {
    for (const other of this.#others.values()) other.heardAt = now;
    this.beginEra();
  }

  /** Who answers for a group, by its hash. */
  responsibleFor(groupHash: number): Responsible {
    let home = this.self;
    let homeWeight = weigh(groupHash, this.#hashOfSelf);
    let deputy: string | null = null;
    let deputyWeight = -1;
    for (const [address, { hash }] of this.#others) {
      const weight = weigh(groupHash, hash);
      if (weight > homeWeight || (weight === homeWeight && address > home)) {
        [deputy, deputyWeight] = [home, homeWeight];
        [home, homeWeight] = [address, weight];
      } else if (weight > deputyWeight) [deputy, deputyWeight] = [address, weight];
    }
    return { home, deputy };
  }
}

/** FNV-1a over a text. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** Mixes two hashes so that each bit of both counts (the end of MurmurHash3). */
function weigh(groupHash: number, memberHash: number): number {
  let mixed = Math.imul(groupHash ^ memberHash, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
