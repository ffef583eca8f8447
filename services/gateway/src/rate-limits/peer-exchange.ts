import type { Batch, Claimed, GatewayMessage, Outcome } from "./messages.ts";
import type { Ages } from "./moments.ts";

/** What an exchange needs of the gateway that it works for. */
export interface ExchangeOptions {
  self: string;
  /** False when it could not be sent. */
  send: (to: string, message: GatewayMessage) => boolean;
  /** Decides a claim of another gateway, or counts what that has let through already. */
  decide: (claims: readonly Claimed[], source: string, isPassed: boolean) => Outcome;
  /** Takes over what another gateway knows. */
  learn: (key: string, source: string, ages: Ages) => void;
  /** Notes what another gateway has decided. */
  note: (source: string, keys: readonly string[]) => void;
  /** Hears that somebody has not answered in time. */
  onSilence: (address: string) => void;
}

/** Long beside an answer, which takes a fraction of a millisecond, and short beside a request. */
const ANSWER_MS = 100;
/** Of one message, about; NATS takes 1 MB. */
const CHARS_MAX = 256 * 1024;
/** What a part of a message has beside its keys. */
const PART_CHARS = 64;
const AGE_CHARS = 12;

interface Asked {
  isPassed: boolean;
  claims: readonly Claimed[];
  settle: (outcome: Outcome | null) => void;
}

/** What waits for the end of this turn of the event loop, for one gateway. */
interface Outbox extends Pick<Batch, "told" | "passed" | "answered"> {
  asked: Asked[];
  chars: number;
}

/**
 * Questions and news between gateways. What belongs to one turn of the event loop goes to a gateway in one
 * message, in this order: what is known, what has passed, questions, answers.
 */
export class PeerExchange {
  readonly #options: ExchangeOptions;
  readonly #outboxes = new Map<string, Outbox>();
  readonly #waiting = new Map<number, { to: string; asked: readonly Asked[] }>();
  #isScheduled = false;
  #hasEnded = false;
  #lastId = 0;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /**
   * Asks another gateway about a claim, or tells it of one that was let through already. Null when it does not
   * answer in time.
   */
  ask(to: string, claims: readonly Claimed[], isPassed: boolean): Promise<Outcome | null> {
    const { promise, resolve } = Promise.withResolvers<Outcome | null>();
    const outbox = this.#outboxOf(to);
    outbox.asked.push({ isPassed, claims, settle: resolve });
    this.#fill(
      outbox,
      claims.map(([key]) => key),
    );
    return promise;
  }

  /** Tells what is known of a window and a source. */
  tell(to: string, key: string, source: string, ages: [number, number][]): void {
    const outbox = this.#outboxOf(to);
    outbox.told.push([key, source, ages]);
    this.#fill(outbox, [key], ages.length * AGE_CHARS);
  }

  /** Tells that a source has let one through. */
  passOn(to: string, source: string, keys: string[]): void {
    const outbox = this.#outboxOf(to);
    outbox.passed.push([source, keys]);
    this.#fill(outbox, keys);
  }

  /** Takes what another gateway has sent. */
  receive({ from, told, passed, asked, answered }: Batch): void {
    const { learn, note, decide } = this.#options;
    for (const [key, source, ages] of told) learn(key, source, ages);
    for (const [source, keys] of passed) note(source, keys);
    if (asked !== null) {
      const outcomes = asked.claims.map(([isPassed, claims]) => decide(claims, from, isPassed));
      const outbox = this.#outboxOf(from);
      outbox.answered.push({ id: asked.id, outcomes: outcomes.map(copy) });
      this.#fill(outbox, [], outcomes.length * PART_CHARS);
    }
    for (const { id, outcomes } of answered) this.#settle(id, outcomes);
  }

  /** Waits no more for a gateway that has said goodbye. */
  giveUp(address: string): void {
    for (const [id, { to }] of this.#waiting) if (to === address) this.#settle(id, []);
  }

  /** Sends what is left, and nothing from then on. */
  end(): void {
    this.#flush();
    this.#hasEnded = true;
    for (const id of this.#waiting.keys()) this.#settle(id, []);
  }

  #outboxOf(to: string): Outbox {
    const known = this.#outboxes.get(to);
    if (known !== undefined) return known;
    const outbox = { told: [], passed: [], answered: [], asked: [], chars: 0 };
    this.#outboxes.set(to, outbox);
    if (!this.#isScheduled) setImmediate(() => this.#flush());
    this.#isScheduled = true;
    return outbox;
  }

  /** Sends at once what would become too long. */
  #fill(outbox: Outbox, keys: readonly string[], more = 0): void {
    for (const key of keys) outbox.chars += key.length;
    outbox.chars += PART_CHARS + more;
    if (outbox.chars >= CHARS_MAX) this.#flush();
  }

  #flush(): void {
    this.#isScheduled = false;
    const outboxes = [...this.#outboxes];
    this.#outboxes.clear();
    for (const [to, { told, passed, answered, asked }] of outboxes) {
      const question = asked.length === 0 ? null : this.#await(to, asked);
      const message = { kind: "batch", from: this.#options.self, told, passed, answered } as const;
      const isSent = !this.#hasEnded && this.#options.send(to, { ...message, asked: question });
      if (!isSent && question !== null) this.#settle(question.id, []);
    }
  }

  #await(to: string, asked: readonly Asked[]): NonNullable<Batch["asked"]> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#waiting.set(id, { to, asked });
    setTimeout(() => {
      if (!this.#waiting.has(id)) return;
      this.#options.onSilence(to);
      this.#settle(id, []);
    }, ANSWER_MS).unref();
    const claims = asked.map(({ isPassed, claims: own }): [boolean, [string, number][]] => [
      isPassed,
      own.map(([key, max]) => [key, max]),
    ]);
    return { id, claims };
  }

  /** Those without an outcome are settled as not answered. */
  #settle(id: number, outcomes: readonly Outcome[]): void {
    const { asked = [] } = this.#waiting.get(id) ?? {};
    this.#waiting.delete(id);
    for (const [index, { settle }] of asked.entries()) settle(outcomes[index] ?? null);
  }
}

function copy([refusedBy, retryAfterMs, count, resetMs]: Outcome): [
  number,
  number,
  number,
  number,
] {
  return [refusedBy, retryAfterMs, count, resetMs];
}
