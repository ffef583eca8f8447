import { hashText, scoreOf } from "@workflow/rpc";

/** The gateways that answer for a group of windows: the home, and the deputy that replaces it. */
export interface Responsible {
  readonly home: string;
  /** Null while there is only one gateway. */
  readonly deputy: string | null;
}

/** So long after a goodbye, no message of that gateway is under way any more. */
const FAREWELL_MS = 60_000;

/**
 * The gateways that share limits, as far as this one knows. Each works out the responsible ones by rendezvous
 * hashing. When a gateway joins or leaves, only its own windows move, to the next in order.
 */
export class Members {
  readonly self: string;
  /** Grows with every change, so that results of an earlier membership can be recognized. */
  epoch = 0;
  /** Grows when some gateways may have missed what they were told. */
  era = 0;
  readonly #hashOfSelf: number;
  #view: { readonly epoch: number; readonly value: number } | null = null;
  readonly #others = new Map<string, { hash: number; heardAt: number }>();
  /** Gateways that say they are too slow to be waited for. */
  readonly #slow = new Set<string>();
  /** When each gateway said goodbye. */
  readonly #left = new Map<string, number>();

  constructor(self: string) {
    this.self = self;
    this.#hashOfSelf = hashText(self);
  }

  get isAlone(): boolean {
    return this.#others.size === 0;
  }

  /** The number of gateways, this one included. */
  get size(): number {
    return this.#others.size + 1;
  }

  /** The addresses of the other gateways. */
  others(): string[] {
    return [...this.#others.keys()];
  }

  /** A hash of all addresses and of which are slow. Never 0. */
  get view(): number {
    if (this.#view?.epoch === this.epoch) return this.#view.value;
    const marked = [this.self, ...this.#others.keys()].map((address) =>
      this.#slow.has(address) ? `${address} slow` : address,
    );
    this.#view = { epoch: this.epoch, value: hashText(marked.sort().join()) + 1 };
    return this.#view.value;
  }

  /** Notes a sign of life. True for a newcomer. */
  hear(address: string, now: number): boolean {
    const known = this.#others.get(address);
    if (known !== undefined) known.heardAt = now;
    else {
      this.#others.set(address, { hash: hashText(address), heardAt: now });
      this.epoch += 1;
    }
    return known === undefined;
  }

  /** Notes that a gateway is gone. False for an unknown one. */
  lose(address: string): boolean {
    const isKnown = this.#others.delete(address);
    this.#slow.delete(address);
    if (isKnown) this.beginEra();
    return isKnown;
  }

  /** Notes whether a gateway calls itself slow. True when that has changed. */
  markSlow(address: string, isSlow: boolean): boolean {
    if (this.#slow.has(address) === isSlow) return false;
    if (isSlow) this.#slow.add(address);
    else this.#slow.delete(address);
    this.epoch += 1;
    return true;
  }

  /**
   * Notes a goodbye. Later messages of that address bring it back to nobody. False for an unknown gateway.
   */
  leave(address: string, now: number): boolean {
    for (const [other, at] of this.#left) if (now - at > FAREWELL_MS) this.#left.delete(other);
    this.#left.set(address, now);
    return this.lose(address);
  }

  /** True for a gateway that has said goodbye. An address is never used again. */
  hasLeft(address: string): boolean {
    return this.#left.has(address);
  }

  /** To be called when a gateway may have missed messages. */
  beginEra(): void {
    this.epoch += 1;
    this.era += 1;
  }

  /** The gateways that were not heard since a moment. */
  silent(since: number): string[] {
    return [...this.#others]
      .filter(([, { heardAt }]) => heardAt < since)
      .map(([address]) => address);
  }

  /**
   * Gives every gateway its full time again, because nobody could be heard without a connection.
   */
  forgive(now: number): void {
    for (const other of this.#others.values()) other.heardAt = now;
    this.beginEra();
  }

  /**
   * The gateways responsible for a group, by its hash. Slow ones are left out, unless fewer than two would remain.
   */
  responsibleFor(groupHash: number): Responsible {
    const isSlowToo = this.size - this.#slow.size < 2;
    let [home, homeWeight] = [this.self, -1];
    let [deputy, deputyWeight]: [string | null, number] = [null, -1];
    const consider = (address: string, hash: number): void => {
      if (!isSlowToo && this.#slow.has(address)) return;
      const weight = scoreOf(hash, groupHash);
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
