import type { Authority, Patience, Role } from "./authority.ts";
import type { DecisionReport } from "./decision-report.ts";
import { HandOver } from "./hand-over.ts";
import { foresee, heed, knownRefusal } from "./last-answers.ts";
import type { Batch, Claimed, Outcome, Question } from "./messages.ts";
import type { Members } from "./members.ts";
import { ANSWER_MS } from "./peer-exchange.ts";
import type { PeerExchange } from "./peer-exchange.ts";
import { withoutShare } from "./share.ts";
import { Sources } from "./sources.ts";
import { WindowStore } from "./window-store.ts";
import type { Window } from "./window-store.ts";

export interface SharedWindowsOptions {
  windowMs: number;
  /** Milliseconds that never go back. */
  now: () => number;
  members: Members;
  onDecision: DecisionReport;
}

/** The way to the other gateways. */
export interface Peers {
  exchange: PeerExchange;
  authority: Authority;
  isConnected: () => boolean;
  /** Notices whether this gateway has stood still. */
  checkPace: (now: number) => void;
}

const SELF = 0;
/** A gateway that does not know after so many questions and pauses asks nobody any more. */
const TRIES_MAX = 5;
/** A claim is handed on no further. */
const HOPS_MAX = 2;
/** How long answers are waited for. A gateway that says nothing for three seconds is gone. */
const PATIENCE_MS: Readonly<Record<Patience, number>> = {
  first: ANSWER_MS,
  second: 1_500,
  last: 2_000,
};
/** When to come again who found no share: suspicions are looked into once a second at first. */
const NO_SHARE_MS = 1_000;
const NOTHING: Outcome = [-1, 0, 0, 0];

/**
 * Exact sliding windows that several gateways share. Each window has a home among them, which decides and tells
 * its deputy of what it lets through before that is answered. Whoever becomes responsible for a window is
 * told what the others know of it before the first question about it.
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

  /** Shares the windows with others from now on. */
  join(peers: Peers): void {
    this.#peers = peers;
  }

  /**
   * Counts one in each of some windows of one group, or in none when one of them has no room. Never
   * rejects, and is no promise where this gateway can tell by itself.
   */
  claim(claims: readonly Claimed[]): Outcome | Promise<Outcome> {
    const { self } = this.#options.members;
    return this.#settle({ claims, source: self, isPassed: false, hops: 0 }, 0);
  }

  /** Decides a claim of another gateway, or counts what that has let through already. */
  answer(question: Question): Outcome | Promise<Outcome> {
    const { claims, isPassed } = question;
    if (claims.length === 0) return NOTHING;
    if (!isPassed) return this.#settle(question, 0);
    const now = this.#options.now();
    const windows = claims.map(([key]) => this.#store.open(key, now));
    this.#count(question, windows, now);
    return this.#read(question, windows, now);
  }

  /** Takes over what another gateway knows of a window. */
  learn([key, source, ages]: Batch["told"][number]): void {
    const now = this.#options.now();
    const number = this.#sources.numberOf(source, now);
    this.#store.open(key, now).moments.learn(number, ages, now);
  }

  /** Counts what another gateway has decided. */
  note(source: string, keys: readonly string[]): void {
    const now = this.#options.now();
    const number = this.#sources.numberOf(source, now);
    for (const key of keys) this.#store.open(key, now).moments.add(now, number);
  }

  /** Tells those who have become responsible what is known here, bit by bit. Settles when all is told. */
  tellAll(): Promise<void> {
    return this.#handOver.tellAll();
  }

  #settle(question: Question, tries: number, isUpToDate = false): Outcome | Promise<Outcome> {
    const { now, onDecision, windowMs } = this.#options;
    const at = now();
    const windows = question.claims.map(([key]) => this.#store.open(key, at));
    const refusal = knownRefusal(question.claims, windows, { now: at, windowMs });
    if (refusal !== null) return refusal;
    if (this.#peers === null) return this.#decide(question, windows, at);
    if (!this.#peers.isConnected()) {
      onDecision("nobody");
      return this.#decide(question, windows, at);
    }
    for (const window of windows) this.#handOver.tell(window);
    const role = this.#roleFor(windows, at, isUpToDate);
    if (role.kind === "catchUp") {
      return role.until.then(() => this.#settle(question, tries, true));
    }
    const isOver = tries >= TRIES_MAX || (role.kind === "ask" && question.hops >= HOPS_MAX);
    if (role.kind === "share" || (isOver && role.kind !== "decide")) {
      onDecision("share");
      return this.#isResponsible(windows)
        ? this.#decideAlone(question, windows, at)
        : this.#refuse(question, windows, at);
    }
    if (role.kind === "wait") return role.until.then(() => this.#settle(question, tries + 1));
    onDecision("others");
    if (role.kind === "decide") return this.#decide(question, windows, at);
    const foreseen = this.#goAhead(role.address, question, windows);
    if (foreseen !== null) return foreseen;
    const outcome = this.#ask(role, question, windows);
    const next = tries + (role.patience === "last" ? 2 : 1);
    return outcome.then((settled) => settled ?? this.#settle(question, next));
  }

  #roleFor([first]: readonly Window[], now: number, isUpToDate: boolean): Role {
    if (this.#peers === null || first === undefined) throw new Error("A claim names a window.");
    const { authority, checkPace } = this.#peers;
    if (!isUpToDate) checkPace(now);
    const catchingUp = isUpToDate ? null : authority.catchingUp();
    return catchingUp ?? authority.roleFor(this.#handOver.responsibleFor(first));
  }

  /** Lets through what the home will surely let through, and tells it. Null where it has to be waited for. */
  #goAhead(to: string, question: Question, windows: readonly Window[]): Outcome | null {
    if (question.hops > 0) return null;
    const { members, now } = this.#options;
    const at = now();
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
    { address, patience }: Extract<Role, { kind: "ask" }>,
    question: Question,
    windows: readonly Window[],
  ): Promise<Outcome | null> {
    const { now } = this.#options;
    const patienceMs = PATIENCE_MS[patience];
    const { claims, hops } = question;
    const onLate = (late: Outcome | null): void => {
      if (late !== null) heed(late, claims, windows, now());
    };
    const handedOn = { ...question, hops: hops + 1 };
    const outcome =
      (await this.#peers?.exchange.ask(address, handedOn, { patienceMs, onLate })) ?? null;
    if (outcome === null) return null;
    const at = now();
    heed(outcome, claims, windows, at);
    // Of what is let through for somebody else whoever decides tells those who have to know.
    if (outcome[0] < 0 && hops === 0) for (const { moments } of windows) moments.add(at, SELF);
    return outcome;
  }

  /**
   * Tells a home of what was let through. It may be late with its answer; until then the next requests wait
   * sooner for theirs.
   */
  async #report(to: string, question: Question, windows: readonly Window[]): Promise<void> {
    const onOutcome = (outcome: Outcome | null): void => {
      for (const window of windows) window.unanswered -= 1;
      if (outcome !== null) heed(outcome, question.claims, windows, this.#options.now());
    };
    const passed = { ...question, isPassed: true, hops: 1 };
    const outcome = await this.#peers?.exchange.ask(to, passed, { onLate: onOutcome });
    if (outcome !== null) onOutcome(outcome ?? null);
  }

  /** Decides for all gateways. */
  #decide(question: Question, windows: readonly Window[], now: number): Outcome {
    for (const window of windows) window.alone = null;
    const outcome = this.#read(question, windows, now);
    if (outcome[0] >= 0) return outcome;
    this.#count(question, windows, now);
    return this.#read(question, windows, now, -1);
  }

  /** True where this gateway is told of all that is let through. */
  #isResponsible([first]: readonly Window[]): boolean {
    if (first === undefined) return false;
    const { self } = this.#options.members;
    const { home, deputy } = this.#handOver.responsibleFor(first);
    return home === self || deputy === self;
  }

  /** Lets through nothing for a moment: those who know what others let through live, and do not answer. */
  #refuse(question: Question, windows: readonly Window[], now: number): Outcome {
    const [, , count, resetMs] = this.#read(question, windows, now);
    return [0, Math.min(NO_SHARE_MS, this.#options.windowMs), count, resetMs];
  }

  /** Decides beside others who do the same. */
  #decideAlone(question: Question, windows: readonly Window[], now: number): Outcome {
    const { members, windowMs } = this.#options;
    const outcome = this.#read(question, windows, now);
    if (outcome[0] >= 0) return outcome;
    const share = { gateways: members.size, now, windowMs };
    const withoutOne = withoutShare(question.claims, windows, share);
    if (withoutOne >= 0) {
      return [withoutOne, Math.min(NO_SHARE_MS, windowMs), outcome[2], outcome[3]];
    }
    for (const { alone } of windows) alone?.add(now, SELF);
    this.#count(question, windows, now, true);
    return this.#read(question, windows, now, -1);
  }

  /** What holds of windows at this moment. */
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
    // To find the moment takes long where a limit was lowered, and nothing frees a place before it.
    full.fullUntil = now + waitMs;
    full.fullMax = max;
    return [refusedBy, waitMs, count, resetMs];
  }

  /** Counts one, and whoever would decide in this gateway's place knows of it before the request is answered. */
  #count(
    { claims, source }: Question,
    windows: readonly Window[],
    now: number,
    isAlone = false,
  ): void {
    const number = this.#sources.numberOf(source, now);
    for (const { moments } of windows) moments.add(now, number);
    const [first] = windows;
    if (this.#peers === null || first === undefined) return;
    const { self } = this.#options.members;
    const { home, deputy } = this.#handOver.responsibleFor(first);
    const others = isAlone ? [home, deputy] : [home === self ? deputy : home];
    for (const other of others) {
      if (other === null || other === self || other === source) continue;
      this.#peers.exchange.passOn(
        other,
        source,
        claims.map(([key]) => key),
      );
    }
  }
}

function isFull(count: number, claimed: Claimed | undefined): boolean {
  return count >= (claimed?.[1] ?? 0);
}
