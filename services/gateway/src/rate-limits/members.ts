/** Who of the gateways answers for a group of windows: the first one, and the next when it is gone. */
export interface Responsible {
  readonly home: string;
  /** Null when there is one gateway only. */
  readonly deputy: string | null;
}

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
  #view: { readonly epoch: number; readonly value: number } | null = null;
  readonly #others = new Map<string, { hash: number; heardAt: number }>();
  /** Those that say that they take too long to be waited for. */
  readonly #slow = new Set<string>();
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

  /** Stands for the addresses of all, and which of them are slow. Never 0. */
  get view(): number {
    if (this.#view?.epoch === this.epoch) return this.#view.value;
    const marked = [this.self, ...this.#others.keys()].map((address) =>
      this.#slow.has(address) ? `${address} slow` : address,
    );
    this.#view = { epoch: this.epoch, value: hashOf(marked.sort().join()) + 1 };
    return this.#view.value;
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
    this.#slow.delete(address);
    if (isKnown) this.beginEra();
    return isKnown;
  }

  /** Notes what one of them says about its own pace. True where that is new. */
  markSlow(address: string, isSlow: boolean): boolean {
    if (this.#slow.has(address) === isSlow) return false;
    if (isSlow) this.#slow.add(address);
    else this.#slow.delete(address);
    this.epoch += 1;
    return true;
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

  /** Those of which nothing was heard since a moment. */
  silent(since: number): string[] {
    return [...this.#others]
      .filter(([, { heardAt }]) => heardAt < since)
      .map(([address]) => address);
  }

  /** Gives everybody time again: while there was no connection nobody could be heard. */
  forgive(now: number): void {
    for (const other of this.#others.values()) other.heardAt = now;
    this.beginEra();
  }

  /** Who answers for a group, by its hash: of those who are not slow, unless that leaves no two. */
  responsibleFor(groupHash: number): Responsible {
    const isSlowToo = this.size - this.#slow.size < 2;
    let [home, homeWeight] = [this.self, -1];
    let [deputy, deputyWeight]: [string | null, number] = [null, -1];
    const consider = (address: string, hash: number): void => {
      if (!isSlowToo && this.#slow.has(address)) return;
      const weight = weigh(groupHash, hash);
      if (weight > homeWeight || (weight === homeWeight && address > home)) {
        if (homeWeight >= 0) [deputy, deputyWeight] = [home, homeWeight];
        [home, homeWeight] = [address, weight];
      } else if (weight > deputyWeight) [deputy, deputyWeight] = [address, weight];
    };
    consider(this.self, this.#hashOfSelf);
    for (const [address, { hash }] of this.#others) consider(address, hash);
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
