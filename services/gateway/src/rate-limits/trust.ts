import { ANSWER_MS } from "./peer-exchange.ts";

export interface TrustOptions {
  now: () => number;
  /** Asks somebody for nothing; false when no answer came. */
  probe: (address: string, patienceMs: number) => Promise<boolean>;
  /** Tells somebody anew whether it is doubted. */
  tell: (address: string) => void;
}

/** What two gateways think of each other. */
interface Relation {
  /** It has not answered in time, and no probe was answered since. */
  isSuspected: boolean;
  /** It says the same of this gateway. */
  doubtsSelf: boolean;
  /** Nothing of it was heard since this gateway stood still: it may have decided much meanwhile. */
  isUnheard: boolean;
  /** Until the first probe of the next suspicion, and that far apart at the end of this one. */
  waitMs: number;
  trustedAt: number;
  timer: NodeJS.Timeout | null;
  /** While the two learn what they think of each other: neither decides in the other's place before. */
  meeting: PromiseWithResolvers<void> | null;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 16_000;
/** Up to this wait a suspicion may end by its first probe: who is slow only once is good. */
const FORGIVING_WAIT_MS = 2_000;
/** Whoever has answered for so long begins anew with the shortest wait. */
const PROVEN_MS = 60_000;
/** Two that meet agree within that, or each goes on with its share. */
const MEETING_MS = 100;
/**
 * For so long somebody who is suspected may yet answer that it has heard so. All that it has decided is known
 * then; whoever needs longer stands still, and notices that by itself.
 */
const TAKE_OVER_MS = 500;

/**
 * Who of the other gateways answers in time. One that did not is asked for nothing more, so that requests wait
 * for it once: probes find out when it answers in time again, ever further apart. Both know of it, as only one of the
 * two may decide.
 */
export class Trust {
  readonly #options: TrustOptions;
  readonly #relations = new Map<string, Relation>();

  constructor(options: TrustOptions) {
    this.#options = options;
  }

  /** Begins anew with a gateway that messages may have been lost to. Neither trusts the other before a probe. */
  meet(address: string): void {
    const waitMs = this.#relations.get(address)?.waitMs ?? FIRST_WAIT_MS;
    this.forget(address);
    const meeting = Promise.withResolvers<void>();
    this.#relations.set(address, {
      isSuspected: true,
      doubtsSelf: true,
      isUnheard: false,
      waitMs,
      trustedAt: Number.NEGATIVE_INFINITY,
      timer: null,
      meeting,
    });
    setTimeout(() => this.#endMeeting(address, meeting), MEETING_MS).unref();
    this.#options.tell(address);
  }

  /** Somebody is gone. */
  forget(address: string): void {
    const relation = this.#relations.get(address);
    if (relation === undefined) return;
    if (relation.timer !== null) clearTimeout(relation.timer);
    relation.meeting?.resolve();
    this.#relations.delete(address);
  }

  /** Notes that somebody has not answered in time. */
  suspect(address: string): void {
    const relation = this.#relations.get(address);
    if (relation === undefined || relation.isSuspected) return;
    const { now, tell } = this.#options;
    relation.isSuspected = true;
    if (now() - relation.trustedAt > PROVEN_MS) relation.waitMs = FIRST_WAIT_MS;
    const mayForgive = relation.waitMs <= FORGIVING_WAIT_MS;
    this.#probeLater(address, relation);
    tell(address);
    void this.#takeOver(address, relation, mayForgive);
  }

  /**
   * Notes that this gateway has stood still: what those say who are suspected is not known any more. They are asked,
   * and may answer late.
   */
  standStill(): void {
    for (const [address, { isSuspected }] of this.#relations) {
      if (!isSuspected) continue;
      this.miss(address);
      void this.#options.probe(address, ANSWER_MS);
    }
  }

  /** Notes that nothing was heard of somebody since this gateway stood still. */
  miss(address: string): void {
    const relation = this.#relations.get(address);
    if (relation === undefined) return;
    relation.doubtsSelf = true;
    relation.isUnheard = true;
  }

  /** Notes what somebody says about this gateway. */
  hear(address: string, doubtsSelf: boolean): void {
    const relation = this.#relations.get(address);
    if (relation === undefined) return;
    relation.isUnheard = false;
    if (relation.doubtsSelf === doubtsSelf) return;
    relation.doubtsSelf = doubtsSelf;
    this.#endMeeting(address, relation.meeting);
  }

  /** True where this gateway's knowledge is older than a moment when it stood still. */
  isUnheard(address: string): boolean {
    return this.#relations.get(address)?.isUnheard ?? false;
  }

  isSuspected(address: string): boolean {
    return this.#relations.get(address)?.isSuspected ?? true;
  }

  /** True where somebody does not ask this gateway, and decides in its place. */
  isDoubtedBy(address: string): boolean {
    return this.#relations.get(address)?.doubtsSelf ?? true;
  }

  /** While somebody is new, or was just suspected: when more is known. */
  meeting(address: string): Promise<void> | null {
    return this.#relations.get(address)?.meeting?.promise ?? null;
  }

  /** Asks somebody who is suspected whether it answers in time by now. */
  async probe(address: string): Promise<void> {
    const relation = this.#relations.get(address);
    if (relation?.isSuspected !== true) return;
    const isInTime = await this.#ask(address, ANSWER_MS);
    if (this.#relations.get(address) !== relation) return;
    if (isInTime) this.#believe(address, relation);
    else this.#probeLater(address, relation);
  }

  end(): void {
    for (const address of this.#relations.keys()) this.forget(address);
  }

  async #takeOver(address: string, relation: Relation, mayForgive: boolean): Promise<void> {
    const meeting = Promise.withResolvers<void>();
    relation.meeting = meeting;
    const isInTime = await this.#ask(address, TAKE_OVER_MS);
    const isSame = relation.meeting === meeting && this.#relations.get(address) === relation;
    if (isInTime && isSame && mayForgive) this.#believe(address, relation);
    this.#endMeeting(address, meeting);
  }

  /** Whether somebody has answered in time, however long an answer was waited for. */
  async #ask(address: string, patienceMs: number): Promise<boolean> {
    const { now, probe } = this.#options;
    const askedAt = now();
    return (await probe(address, patienceMs)) && now() - askedAt <= ANSWER_MS;
  }

  #believe(address: string, relation: Relation): void {
    const { now, tell } = this.#options;
    if (relation.timer !== null) clearTimeout(relation.timer);
    relation.timer = null;
    relation.isSuspected = false;
    relation.trustedAt = now();
    this.#endMeeting(address, relation.meeting);
    tell(address);
  }

  #probeLater(address: string, relation: Relation): void {
    if (relation.timer !== null) clearTimeout(relation.timer);
    relation.timer = setTimeout(() => void this.probe(address), relation.waitMs);
    relation.timer.unref();
    relation.waitMs = Math.min(2 * relation.waitMs, LONGEST_WAIT_MS);
  }

  #endMeeting(address: string, meeting: PromiseWithResolvers<void> | null): void {
    const relation = this.#relations.get(address);
    if (relation !== undefined && relation.meeting === meeting) relation.meeting = null;
    meeting?.resolve();
  }
}
