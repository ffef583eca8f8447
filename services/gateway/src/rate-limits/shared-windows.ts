import { roleFor } from "./authority.ts";
import type { Role } from "./authority.ts";
import type { Clock } from "./clock.ts";
import type { DecisionReport } from "./decision-report.ts";
import { HandOver } from "./hand-over.ts";
import { foresee, heed, knownRefusal } from "./last-answers.ts";
import type { Batch, Claimed, Outcome, Question } from "./messages.ts";
import type { Members } from "./members.ts";
import type { PeerExchange } from "./peer-exchange.ts";
import type { Presence } from "./presence.ts";
import { Sources } from "./sources.ts";
import { WindowStore } from "./window-store.ts";
import type { Window } from "./window-store.ts";

export interface SharedWindowsOptions {
  windowMs: number;
  clock: Clock;
  members: Members;
  onDecision: DecisionReport;
}

/** The connection to the other gateways. */
export interface Peers {
  exchange: PeerExchange;
  presence: Presence;
  isConnected: () => boolean;
  /** True after this gateway's goodbye: others decide now. */
  hasLeft: () => boolean;
}

/** The state of a claim that is being settled. */
interface Progress {
  readonly question: Question;
  readonly windows: readonly Window[];
  /** When the claim is refused for want of an answer. */
  readonly until: number;
  /** True when the claim was counted and only the deputy's word is missing. */
  readonly isCounted: boolean;
}

const SELF = 0;
/** How often a claim may be handed on. */
const HOPS_MAX = 2;
/** How long a request waits, and up to a heartbeat more: a dead home is missed and replaced within this time. */
const WAIT_MS = 5_000;
/** An answer for another gateway has to leave so much earlier. */
const HOP_MS = 1_000;
/** The `Retry-After` of a request that was refused because nobody who knows has answered. */
const UNKNOWN_MS = 1_000;

/**
 * Exact sliding windows that several gateways share. Each window has a home among them. The home decides, and tells
 * its deputy what it lets through before it answers. A newly responsible gateway hears what the others know before
 * the first question.
 */
export class SharedWindows {
  readonly #options: SharedWindowsOptions;
  readonly #store: WindowStore;
  readonly #sources: Sources;
  readonly #handOver: HandOver;
  #peers: Peers | null = null;

  constructor(options: SharedWindowsOptions) {
    const { members, windowMs } = options;
    this.#options = options;
    this.#store = new WindowStore(windowMs);
    this.#sources = new Sources(members.self, windowMs);
    this.#handOver = new HandOver({
      ...options,
      store: this.#store,
      sources: this.#sources,
      tell: (to, known) => this.#peers?.exchange.tell(to, known),
    });
  }

  /** Shares the windows with other gateways from now on. */
  join(peers: Peers): void {
    this.#peers = peers;
  }

  /**
   * Counts one in each of some windows of one group, or in none when one of them is full. Never rejects. Returns no
   * promise when this gateway can decide by itself.
   */
  claim(claims: readonly Claimed[]): Outcome | Promise<Outcome> {
    const { self } = this.#options.members;
    return this.#begin({ claims, source: self, isPassed: false, hops: 0 });
  }

  /** Decides a claim of another gateway, or counts what was let through there. */
  answer(question: Question): Outcome | Promise<Outcome> {
    const { claims, isPassed } = question;
    if (!isPassed) return this.#begin(question);
    const now = this.#options.clock.now();
    const windows = claims.map(([key]) => this.#store.open(key, now));
    this.#count(question, windows, now);
    return this.#read(question, windows, now);
  }

  /** Takes over another gateway's knowledge of a window. */
  learn([key, source, ages]: Batch["told"][number]): void {
    const now = this.#options.clock.now();
    const number = this.#sources.numberOf(source, now);
    this.#store.open(key, now).moments.learn(number, ages, now);
  }

  /** Counts another gateway's decision. */
  note(source: string, keys: readonly string[]): void {
    const now = this.#options.clock.now();
    const number = this.#sources.numberOf(source, now);
    for (const key of keys) this.#store.open(key, now).moments.add(now, number);
  }

  /** Tells newly responsible gateways what is known here, bit by bit. Settles when all is told. */
  tellAll(): Promise<void> {
    return this.#handOver.tellAll();
  }

  #begin(question: Question): Outcome | Promise<Outcome> {
    const { clock, windowMs } = this.#options;
    const now = clock.now();
    const windows = question.claims.map(([key]) => this.#store.open(key, now));
    const refusal = knownRefusal(question.claims, windows, { now, windowMs });
    if (refusal !== null) return refusal;
    const until = now + WAIT_MS - question.hops * HOP_MS;
    return this.#settle({ question, windows, until, isCounted: false }, now);
  }

  #settle(progress: Progress, now: number): Outcome | Promise<Outcome> {
    const { onDecision } = this.#options;
    const { question, windows, isCounted } = progress;
    if (this.#peers === null) return this.#decide(progress, now);
    if (this.#peers.hasLeft()) return this.#refuse(progress, now);
    if (!this.#peers.isConnected()) {
      onDecision("nobody");
      return this.#decide(progress, now);
    }
    const role = this.#roleFor(windows);
    if (role.kind === "decide") {
      onDecision("others");
      return this.#decide(progress, now);
    }
    if (role.kind === "ask" && !isCounted && question.hops < HOPS_MAX) {
      const foreseen = this.#goAhead(role.home, progress);
      if (foreseen !== null) {
        onDecision("others");
        return foreseen;
      }
    }
    return this.#wait(progress, role, now);
  }

  #roleFor(windows: readonly Window[]): Role {
    const [first] = windows;
    if (this.#peers === null || first === undefined) throw new Error("A claim names a window.");
    for (const window of windows) this.#handOver.tell(window);
    const { members } = this.#options;
    return roleFor(this.#handOver.responsibleFor(first), members, this.#peers.presence);
  }

  /** Waits for another gateway, and begins anew when that has brought no answer. */
  async #wait(progress: Progress, role: Role, now: number): Promise<Outcome> {
    const { onDecision, clock } = this.#options;
    const { question, until, isCounted } = progress;
    // A counted claim may not be asked again: the deciding gateway knows of the count, but not of the request.
    if (now >= until || (role.kind === "ask" && isCounted)) {
      onDecision("unknown");
      return this.#refuse(progress, now);
    }
    if (role.kind === "confirm") return this.#confirm(progress, role.deputy, now);
    if (role.kind === "ask" && question.hops < HOPS_MAX) {
      const outcome = await this.#ask(role.home, progress, until - now);
      if (outcome !== null) return outcome;
    } else await this.#peers?.presence.change;
    return this.#settle(progress, clock.now());
  }

  /** Counts first and then asks the deputy, whose last word is too old for a lease. */
  async #confirm(progress: Progress, deputy: string, now: number): Promise<Outcome> {
    const { onDecision, members, clock } = this.#options;
    const { question, windows, until, isCounted } = progress;
    if (!isCounted) {
      const refused = this.#read(question, windows, now);
      if (refused[0] >= 0) return refused;
      this.#count(question, windows, now);
    }
    const { epoch } = members;
    const view = await this.#peers?.exchange.confirm(deputy, until - now);
    const later = clock.now();
    const isAgreed = view === members.view && epoch === members.epoch;
    if (!isAgreed) return this.#settle({ ...progress, isCounted: true }, later);
    onDecision("others");
    return this.#decide({ ...progress, isCounted: true }, later);
  }

  /**
   * Lets through what the home will surely let through, and tells it. Null when the home has to be waited for.
   */
  #goAhead(to: string, { question, windows }: Progress): Outcome | null {
    if (question.hops > 0) return null;
    const { members, clock } = this.#options;
    const at = clock.now();
    const foreseen = foresee(question.claims, windows, members.size - 1, at);
    if (foreseen === null) return null;
    for (const window of windows) {
      window.moments.add(at, SELF);
      window.unanswered += 1;
    }
    void this.#report(to, question, windows);
    return foreseen;
  }

  async #ask(
    home: string,
    { question, windows }: Progress,
    waitMs: number,
  ): Promise<Outcome | null> {
    const { claims, hops } = question;
    const handedOn = { ...question, hops: hops + 1 };
    const outcome = (await this.#peers?.exchange.ask(home, handedOn, waitMs)) ?? null;
    if (outcome === null) return null;
    const at = this.#options.clock.now();
    heed(outcome, claims, windows, at);
    // For another gateway's request, the deciding gateway tells those who have to know.
    if (outcome[0] < 0 && hops === 0) for (const { moments } of windows) moments.add(at, SELF);
    return outcome;
  }

  /**
   * Tells a home what was let through. Its answer may be late; meanwhile fewer requests go ahead of their answers.
   */
  async #report(to: string, question: Question, windows: readonly Window[]): Promise<void> {
    const passed = { ...question, isPassed: true, hops: 1 };
    const outcome = (await this.#peers?.exchange.ask(to, passed, WAIT_MS)) ?? null;
    for (const window of windows) window.unanswered -= 1;
    if (outcome !== null) heed(outcome, question.claims, windows, this.#options.clock.now());
  }

  /** Decides on behalf of all gateways. */
  #decide({ question, windows, isCounted }: Progress, now: number): Outcome {
    if (isCounted) return this.#readCounted(question, windows, now);
    const outcome = this.#read(question, windows, now);
    if (outcome[0] >= 0) return outcome;
    this.#count(question, windows, now);
    return this.#read(question, windows, now, -1);
  }

  /**
   * Others may have told of more while the deputy was asked. A claim that is now too much is refused, and stays
   * counted.
   */
  #readCounted(question: Question, windows: readonly Window[], now: number): Outcome {
    const tooMany = windows.findIndex(
      ({ moments }, index) => moments.count > (question.claims[index]?.[1] ?? 0),
    );
    return this.#read(question, windows, now, tooMany);
  }

  /** Refuses for a moment, because the gateways that know what others let through do not answer. */
  #refuse({ question, windows }: Progress, now: number): Outcome {
    const [, , count, resetMs] = this.#read(question, windows, now);
    return [0, Math.min(UNKNOWN_MS, this.#options.windowMs), count, resetMs];
  }

  /** The outcome for windows as they are at this moment. */
  #read(
    { claims }: Question,
    windows: readonly Window[],
    now: number,
    refusedBy = windows.findIndex(({ moments }, index) => isFull(moments.count, claims[index])),
  ): Outcome {
    const { windowMs } = this.#options;
    const moments = windows[0]?.moments;
    const count = moments?.count ?? 0;
    const leaves = (moment = now): number => Math.min(windowMs, Math.ceil(moment + windowMs - now));
    const resetMs = count === 0 ? windowMs : leaves(moments?.oldest(1));
    const full = windows[refusedBy];
    if (full === undefined) return [-1, 0, count, resetMs];
    const max = claims[refusedBy]?.[1] ?? 0;
    const waitMs = leaves(full.moments.oldest(full.moments.count - max + 1));
    // Finding the moment takes long where a limit was lowered. No place becomes free before it, so it is kept.
    full.fullUntil = now + waitMs;
    full.fullMax = max;
    return [refusedBy, waitMs, count, resetMs];
  }

  /**
   * Counts one. The gateway that would replace this one knows of it before the request is answered.
   */
  #count({ claims, source }: Question, windows: readonly Window[], now: number): void {
    const number = this.#sources.numberOf(source, now);
    for (const { moments } of windows) moments.add(now, number);
    const [first] = windows;
    if (this.#peers === null || first === undefined) return;
    const { self } = this.#options.members;
    const { home, deputy } = this.#handOver.responsibleFor(first);
    const other = home === self ? deputy : home;
    if (other === null || other === self || other === source) return;
    this.#peers.exchange.passOn(
      other,
      source,
      claims.map(([key]) => key),
    );
  }
}

function isFull(count: number, claimed: Claimed | undefined): boolean {
  return count >= (claimed?.[1] ?? 0);
}
