import type { Batch, GatewayMessage, Outcome, Question } from "./messages.ts";

/** What an exchange needs of the gateway that it works for. */
export interface ExchangeOptions {
  self: string;
  now: () => number;
  /** False when it could not be sent. */
  send: (to: string, message: GatewayMessage) => boolean;
  /** Decides a claim of another gateway, or counts what that has let through already. Never rejects. */
  decide: (question: Question) => Outcome | Promise<Outcome>;
  /** Takes over what another gateway knows. */
  learn: (known: Batch["told"][number]) => void;
  /** Notes what another gateway has decided. */
  note: (source: string, keys: readonly string[]) => void;
  /** Whether somebody is asked no more. */
  isSuspected: (address: string) => boolean;
  /** Hears that somebody has not answered in time. */
  onSilence: (address: string) => void;
}

/** How a question is asked. */
export interface AskOptions {
  /** Of an answer in time, in milliseconds. */
  patienceMs?: number;
  /** Hears once, after null was answered: what came later, or null when nothing did. */
  onLate?: (outcome: Outcome | null) => void;
}

/**
 * Of an answer in time. It takes a fraction of a millisecond, and on busy machines now and then a hundred times as
 * long; a request waits for nobody's silence more than once or twice.
 */
export const ANSWER_MS = 250;
/** A timer so late is no sign of another gateway's silence: this one has stood still. */
const OWN_DELAY_MS = 50;
/** So long after a question such delays count for nothing any more. */
const OWN_DELAYS_MS = 2_000;
/** For so long a late answer is waited for. */
const LATE_MS = 3_000;
/** Of one message, about: reading it holds up nobody. */
const CHARS_MAX = 32 * 1024;
/** What a part of a message has beside its keys. */
const PART_CHARS = 64;
const AGE_CHARS = 6;
const EMPTY: Omit<Question, "source"> = { claims: [], isPassed: false, hops: 0 };

interface Asked {
  readonly question: Question;
  readonly patienceMs: number;
  readonly settle: (outcome: Outcome | null) => void;
  readonly onLate: ((outcome: Outcome | null) => void) | undefined;
}

/** Questions of one message. */
interface Waiting {
  readonly to: string;
  readonly asked: readonly Asked[];
  /** Who asked goes on without an answer. */
  isLate: boolean;
}

type List<Of> = Of extends readonly (infer Item)[] ? Item[] : never;

/** What waits for the end of this turn of the event loop, for one gateway. */
interface Outbox {
  readonly told: List<Batch["told"]>;
  readonly passed: List<Batch["passed"]>;
  readonly answered: List<Batch["answered"]>;
  readonly asked: Asked[];
  chars: number;
}

/**
 * Questions and news between gateways. What belongs to one turn of the event loop goes to a gateway in one
 * message, in this order: what is known, what has passed, questions, answers.
 */
export class PeerExchange {
  readonly #options: ExchangeOptions;
  readonly #outboxes = new Map<string, Outbox>();
  readonly #waiting = new Map<number, Waiting>();
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
  ask(to: string, question: Question, options: AskOptions = {}): Promise<Outcome | null> {
    const { patienceMs = ANSWER_MS, onLate } = options;
    const { promise, resolve } = Promise.withResolvers<Outcome | null>();
    const outbox = this.#outboxOf(to);
    outbox.asked.push({ question, patienceMs, settle: resolve, onLate });
    let chars = 0;
    for (const [key] of question.claims) chars += key.length;
    this.#fill(outbox, chars);
    return promise;
  }

  /** Asks for nothing; false when no answer came. */
  async probe(to: string, options: AskOptions = {}): Promise<boolean> {
    return (await this.ask(to, { ...EMPTY, source: this.#options.self }, options)) !== null;
  }

  /** Tells what is known of a window and a source. */
  tell(to: string, known: Batch["told"][number]): void {
    const outbox = this.#outboxOf(to);
    outbox.told.push(known);
    this.#fill(outbox, known[0].length + known[2].length * AGE_CHARS);
  }

  /** Tells that a source has let one through. */
  passOn(to: string, source: string, keys: readonly string[]): void {
    const outbox = this.#outboxOf(to);
    outbox.passed.push([source, keys]);
    let chars = 0;
    for (const key of keys) chars += key.length;
    this.#fill(outbox, chars);
  }

  /** Sends a message even if there is nothing to say, for each says whether its receiver is suspected. */
  greet(to: string): void {
    this.#outboxOf(to);
  }

  /** Takes what another gateway has sent. */
  receive({ from, told, passed, asked, answered }: Batch): void {
    const { learn, note, decide } = this.#options;
    for (const known of told) learn(known);
    for (const [source, keys] of passed) note(source, keys);
    if (asked !== null) this.#answer(from, asked.id, asked.questions.map(decide));
    for (const { id, outcomes } of answered) this.#settle(id, outcomes);
  }

  /** Waits no more for a gateway that has said goodbye. */
  giveUp(address: string): void {
    for (const [id, { to }] of this.#waiting) if (to === address) this.#drop(id);
  }

  /** Sends what is left, and nothing from then on. */
  end(): void {
    this.#flush();
    this.#hasEnded = true;
    for (const id of this.#waiting.keys()) this.#drop(id);
  }

  #answer(to: string, id: number, decided: readonly (Outcome | Promise<Outcome>)[]): void {
    const send = (outcomes: readonly Outcome[]): void => {
      const outbox = this.#outboxOf(to);
      outbox.answered.push({ id, outcomes });
      this.#fill(outbox, outcomes.length * PART_CHARS);
    };
    const isAtOnce = (each: Outcome | Promise<Outcome>): each is Outcome =>
      !(each instanceof Promise);
    if (decided.every(isAtOnce)) send(decided);
    else void Promise.all(decided.map(async (each) => each)).then(send);
  }

  #outboxOf(to: string): Outbox {
    const known = this.#outboxes.get(to);
    if (known !== undefined) return known;
    const outbox: Outbox = { told: [], passed: [], answered: [], asked: [], chars: 0 };
    this.#outboxes.set(to, outbox);
    if (!this.#isScheduled) setImmediate(() => this.#flush());
    this.#isScheduled = true;
    return outbox;
  }

  /** Sends at once what would become too long. */
  #fill(outbox: Outbox, chars: number): void {
    outbox.chars += PART_CHARS + chars;
    if (outbox.chars >= CHARS_MAX) this.#flush();
  }

  #flush(): void {
    this.#isScheduled = false;
    const outboxes = [...this.#outboxes];
    this.#outboxes.clear();
    const { self, send, isSuspected } = this.#options;
    for (const [to, { told, passed, answered, asked }] of outboxes) {
      const question = asked.length === 0 ? null : this.#await(to, asked);
      const isDoubted = isSuspected(to);
      const message: Batch = {
        kind: "batch",
        from: self,
        isDoubted,
        told,
        passed,
        asked: question,
        answered,
      };
      const isSent = !this.#hasEnded && send(to, message);
      if (!isSent && question !== null) this.#drop(question.id);
    }
  }

  #await(to: string, asked: readonly Asked[]): NonNullable<Batch["asked"]> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#waiting.set(id, { to, asked, isLate: false });
    let patienceMs = 0;
    for (const each of asked) patienceMs = Math.max(patienceMs, each.patienceMs);
    this.#waitFor(id, patienceMs);
    return { id, questions: asked.map(({ question }) => question) };
  }

  /** @param until when this gateway's own delays give the other one no more time */
  #waitFor(id: number, patienceMs: number, until = this.#options.now() + OWN_DELAYS_MS): void {
    const { now } = this.#options;
    const dueAt = now() + patienceMs;
    const look = (): void => {
      if (!this.#waiting.has(id)) return;
      const isOwnDelay = now() - dueAt > OWN_DELAY_MS;
      if (isOwnDelay && now() < until) this.#waitFor(id, ANSWER_MS, until);
      else this.#waitNoLonger(id, isOwnDelay);
    };
    const timer = setTimeout(() => {
      // An answer that is here already is read before that.
      if (this.#waiting.has(id)) setImmediate(look);
    }, patienceMs);
    timer.unref();
  }

  #waitNoLonger(id: number, isOwnDelay: boolean): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    if (!isOwnDelay) this.#options.onSilence(waiting.to);
    waiting.isLate = true;
    for (const { settle } of waiting.asked) settle(null);
    setTimeout(() => this.#drop(id), LATE_MS).unref();
  }

  #settle(id: number, outcomes: readonly Outcome[]): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    for (const [index, { settle, onLate }] of waiting.asked.entries()) {
      const outcome = outcomes[index] ?? null;
      if (!waiting.isLate) settle(outcome);
      if (waiting.isLate || outcome === null) onLate?.(outcome);
    }
  }

  /** What is not settled by then is not answered. */
  #drop(id: number): void {
    this.#settle(id, []);
  }
}
