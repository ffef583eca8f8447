import { foresee, heed, knownRefusal } from "./last-answers.ts";
import type { Claimed, Outcome } from "./messages.ts";
import type { Members, Responsible } from "./members.ts";
import type { Ages } from "./moments.ts";
import type { PeerExchange } from "./peer-exchange.ts";
import { WindowStore } from "./window-store.ts";
import type { Window } from "./window-store.ts";

export interface SharedWindowsOptions {
  windowMs: number;
  /** Milliseconds that never go back. */
  now: () => number;
  members: Members;
  /** Hears whether a decision was made with what the others know. */
  onDecision: (isShared: boolean) => void;
}

/** The way to the other gateways. */
export interface Peers {
  exchange: PeerExchange;
  isConnected: () => boolean;
}

/** Windows that are told of at a time before requests have their turn again. */
const SWEEP_MAX = 500;
const SELF = 0;
/** A home that does not answer is asked for no more; then its deputy is asked, once. */
const QUESTIONS_MAX = 2;

/**
 * Exact sliding windows that several gateways share. Each window has a home among them, which decides and tells
 * its deputy of what it lets through before that is answered. Whoever becomes responsible for a window is
 * told what the others know of it before the first question about it.
 */
export class SharedWindows {
  readonly #options: SharedWindowsOptions;
  readonly #store: WindowStore;
  /** Gateways by the numbers that windows know them by. */
  readonly #sources: string[];
  readonly #numbers = new Map<string, number>();
  #peers: Peers | null = null;
  #sweep: Window[] = [];

  constructor(options: SharedWindowsOptions) {
    this.#options = options;
    this.#store = new WindowStore(options.windowMs);
    this.#sources = [options.members.self];
    this.#numbers.set(options.members.self, SELF);
  }

  /** Shares the windows with others from now on. */
  join(peers: Peers): void {
    this.#peers = peers;
  }

  /**
   * Counts one in each of some windows of one group, or in none when one of them has no room. Never
   * rejects, and is no promise where this gateway can tell by itself.
   */
  claim(claims: readonly Claimed[], questions = 0): Outcome | Promise<Outcome> {
    const now = this.#options.now();
    const windows = claims.map(([key]) => this.#store.open(key, now));
    const [first] = windows;
    if (first === undefined) throw new Error("A claim names a window.");
    const refusal = knownRefusal(claims, windows, now);
    if (refusal !== null) return refusal;
    if (this.#peers === null) return this.#decide(claims, windows, SELF);
    if (!this.#peers.isConnected() || questions >= QUESTIONS_MAX) {
      this.#options.onDecision(false);
      return this.#decide(claims, windows, SELF);
    }
    for (const window of windows) this.#tell(window);
    const { members } = this.#options;
    const { self, size } = members;
    const home = members.actingFor(this.#responsibleFor(first));
    this.#options.onDecision(home !== null);
    if (home === null || home === self) return this.#decide(claims, windows, SELF);
    const foreseen = foresee(claims, windows, size - 1, now);
    if (foreseen === null) return this.#ask(home, claims, windows, questions);
    for (const window of windows) {
      window.moments.add(now, SELF);
      window.unanswered += 1;
    }
    void this.#report(home, claims, windows);
    return foreseen;
  }

  /** Decides a claim of another gateway, or counts what that has let through already. */
  answer(claims: readonly Claimed[], source: string, isPassed: boolean): Outcome {
    const now = this.#options.now();
    const windows = claims.map(([key]) => this.#store.open(key, now));
    return this.#decide(claims, windows, this.#numberOf(source), isPassed);
  }

  /** Takes over what another gateway knows of a window. */
  learn(key: string, source: string, ages: Ages): void {
    const now = this.#options.now();
    this.#store.open(key, now).moments.learn(this.#numberOf(source), ages, now);
  }

  /** Notes what another gateway has decided. */
  note(source: string, keys: readonly string[]): void {
    const now = this.#options.now();
    for (const key of keys) this.#store.open(key, now).moments.add(now, this.#numberOf(source));
  }

  /** Tells those who have become responsible what is known here, bit by bit. */
  tellAll(): void {
    const isUnderWay = this.#sweep.length > 0;
    this.#sweep = [...this.#store.all()];
    if (!isUnderWay) this.#tellSome();
  }

  #tellSome(): void {
    for (const window of this.#sweep.splice(-SWEEP_MAX)) this.#tell(window);
    if (this.#sweep.length > 0) setImmediate(() => this.#tellSome());
  }

  async #ask(
    home: string,
    claims: readonly Claimed[],
    windows: readonly Window[],
    questions: number,
  ): Promise<Outcome> {
    const outcome = (await this.#peers?.exchange.ask(home, claims, false)) ?? null;
    if (outcome === null) return this.claim(claims, questions + 1);
    const now = this.#options.now();
    heed(outcome, claims, windows, now);
    if (outcome[0] < 0) for (const { moments } of windows) moments.add(now, SELF);
    return outcome;
  }

  /** Tells a home of what was let through. Who takes its place, should it be gone, is told of all. */
  async #report(
    home: string,
    claims: readonly Claimed[],
    windows: readonly Window[],
  ): Promise<void> {
    const outcome = (await this.#peers?.exchange.ask(home, claims, true)) ?? null;
    for (const window of windows) window.unanswered -= 1;
    if (outcome !== null) heed(outcome, claims, windows, this.#options.now());
  }

  #decide(
    claims: readonly Claimed[],
    windows: readonly Window[],
    source: number,
    isPassed = false,
  ): Outcome {
    const { now, windowMs } = this.#options;
    const at = now();
    const [first] = windows;
    const refusedBy = windows.findIndex(
      ({ moments }, index) => moments.count >= (claims[index]?.[1] ?? 0),
    );
    const full = windows[refusedBy];
    if (full === undefined || isPassed) {
      for (const { moments } of windows) moments.add(at, source);
      this.#passOn(claims, windows, source);
    }
    const count = first?.moments.count ?? 0;
    const leaves = (moment = at): number => Math.min(windowMs, Math.ceil(moment + windowMs - at));
    const resetMs = count === 0 ? windowMs : leaves(first?.moments.oldest(1));
    if (full === undefined) return [-1, 0, count, resetMs];
    const max = claims[refusedBy]?.[1] ?? 0;
    const waitMs = leaves(full.moments.oldest(full.moments.count - max + 1));
    if (refusedBy === 0) {
      // To find the moment takes long where a limit was lowered, and nothing frees a place before it.
      full.fullUntil = at + waitMs;
      full.fullMax = max;
    }
    return [refusedBy, waitMs, count, resetMs];
  }

  /** Whoever would decide in this gateway's place knows of it before the request is answered. */
  #passOn(claims: readonly Claimed[], [first]: readonly Window[], source: number): void {
    if (this.#peers === null || first === undefined) return;
    const { self } = this.#options.members;
    const { home, deputy } = this.#responsibleFor(first);
    const other = home === self ? deputy : home;
    const address = this.#sources[source];
    if (other === null || address === undefined || other === address) return;
    const keys = claims.map(([key]) => key);
    this.#peers.exchange.passOn(other, address, keys);
  }

  #tell(window: Window): void {
    const { members, now, windowMs } = this.#options;
    const { era } = members;
    const who = this.#responsibleFor(window);
    const { told } = window;
    if (told?.era === era && told.who === who) return;
    window.told = { era, who };
    window.moments.dropUntil(now() - windowMs);
    if (window.moments.count === 0) return;
    const before = told?.era === era ? [told.who.home, told.who.deputy] : [];
    const after = [who.home, who.deputy].filter((address) => !before.includes(address));
    for (const address of after) {
      if (address !== null && address !== members.self) this.#tellOne(address, window);
    }
  }

  #tellOne(address: string, { key, moments }: Window): void {
    for (const [number, ages] of moments.agesAt(this.#options.now())) {
      const source = this.#sources[number];
      if (source !== undefined && source !== address) {
        this.#peers?.exchange.tell(address, key, source, ages);
      }
    }
  }

  #responsibleFor(window: Window): Responsible {
    const { members } = this.#options;
    const { epoch } = members;
    if (window.responsible?.epoch === epoch) return window.responsible.who;
    const who = members.responsibleFor(window.groupHash);
    const before = window.responsible?.who;
    const isSame = before?.home === who.home && before.deputy === who.deputy;
    window.responsible = { epoch, who: isSame ? before : who };
    return window.responsible.who;
  }

  #numberOf(source: string): number {
    const known = this.#numbers.get(source);
    if (known !== undefined) return known;
    const number = this.#sources.push(source) - 1;
    this.#numbers.set(source, number);
    return number;
  }
}
