import type { Clock } from "./clock.ts";
import type { Answered, Asked, Batch, GatewayMessage, Outcome, Question } from "./messages.ts";

/** The dependencies of an exchange. */
export interface ExchangeOptions {
  self: string;
  clock: Clock;
  /** False when it could not be sent. */
  send: (to: string, message: GatewayMessage) => boolean;
  /**
   * Decides a claim of another gateway, or counts a request that was let through there. Never rejects.
   */
  decide: (question: Question) => Outcome | Promise<Outcome>;
  /** Takes over another gateway's knowledge. */
  learn: (known: Batch["told"][number]) => void;
  /** Notes another gateway's decisions. */
  note: (source: string, keys: readonly string[]) => void;
  /** The current membership as this gateway knows it. */
  view: () => number;
}

/** The approximate size of a message, small enough to read without delaying others. */
const CHARS_MAX = 32 * 1024;
/** The approximate size of a message's part beside its keys. */
const PART_CHARS = 64;
const AGE_CHARS = 6;

interface Pending {
  readonly question: Question;
  /** When the question counts as unanswered. */
  readonly until: number;
  readonly settle: (outcome: Outcome | null) => void;
}

/** Questions of one message. */
interface Waiting {
  readonly to: string;
  /** Questions without an answer, by their place in the message. */
  readonly open: Map<number, Pending>;
  /** Stops the timer of the question that is due first. */
  cancel: () => void;
}

type List<Of> = Of extends readonly (infer Item)[] ? Item[] : never;

/** The parts of the next message to one gateway, sent at the end of this turn of the event loop. */
interface Outbox {
  readonly told: List<Batch["told"]>;
  readonly passed: List<Batch["passed"]>;
  readonly answered: List<Batch["answered"]>;
  readonly asked: Pending[];
  chars: number;
}

/**
 * Questions and news between gateways. One message carries everything of one turn of the event loop for a
 * gateway, in this order: known windows, passed requests, questions, answers. A slow answer, such as that
 * of a home whose deputy is silent, delays no other answer.
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
   * Asks another gateway about a claim, or tells it of one that was let through already. Null when it is gone, or does
   * not answer in time.
   */
  ask(to: string, question: Question, waitMs: number): Promise<Outcome | null> {
    const { promise, resolve } = Promise.withResolvers<Outcome | null>();
    const outbox = this.#outboxOf(to);
    const until = this.#options.clock.now() + waitMs;
    outbox.asked.push({ question, until, settle: resolve });
    let chars = 0;
    for (const [key] of question.claims) chars += key.length;
    this.#fill(outbox, chars);
    return promise;
  }

  /**
   * Asks whether somebody has read all that was sent to it so far. It answers with the gateways among which it knows who
   * is responsible; null as of `ask`.
   */
  async confirm(to: string, waitMs: number): Promise<number | null> {
    const question = { claims: [], isPassed: false, source: this.#options.self, hops: 1 };
    return (await this.ask(to, question, waitMs))?.[0] ?? null;
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

  /** Takes what another gateway has sent. */
  receive({ from, told, passed, asked, answered }: Batch): void {
    const { learn, note, decide, view } = this.#options;
    const answer = (question: Question): Outcome | Promise<Outcome> =>
      question.claims.length === 0 ? [view(), 0, 0, 0] : decide(question);
    for (const known of told) learn(known);
    for (const [source, keys] of passed) note(source, keys);
    if (asked !== null) this.#answer(from, asked, asked.questions.map(answer));
    for (const each of answered) this.#settle(each);
  }

  /** Waits no more for a gateway that is gone. */
  giveUp(address: string): void {
    for (const [id, { to }] of this.#waiting) if (to === address) this.#drop(id);
  }

  /** Sends what is left, and nothing from then on. */
  end(): void {
    this.flush();
    this.#hasEnded = true;
    for (const id of this.#waiting.keys()) this.#drop(id);
  }

  #answer(
    to: string,
    { id, takesParts = false }: Asked,
    decided: readonly (Outcome | Promise<Outcome>)[],
  ): void {
    const send = (answered: Answered): void => {
      const outbox = this.#outboxOf(to);
      outbox.answered.push(answered);
      this.#fill(outbox, answered.outcomes.length * PART_CHARS);
    };
    if (decided.every(isAtOnce)) send({ id, outcomes: decided });
    else if (takesParts) sendParts(id, decided, send);
    else {
      void Promise.all(decided.map(async (each) => each)).then((outcomes) =>
        send({ id, outcomes }),
      );
    }
  }

  #outboxOf(to: string): Outbox {
    const known = this.#outboxes.get(to);
    if (known !== undefined) return known;
    const outbox: Outbox = { told: [], passed: [], answered: [], asked: [], chars: 0 };
    this.#outboxes.set(to, outbox);
    if (!this.#isScheduled) this.#options.clock.soon(() => this.flush());
    this.#isScheduled = true;
    return outbox;
  }

  /** Sends at once what would become too long. */
  #fill(outbox: Outbox, chars: number): void {
    outbox.chars += PART_CHARS + chars;
    if (outbox.chars >= CHARS_MAX) this.flush();
  }

  /** Sends what waits for the end of this turn: what is sent after it comes later. */
  flush(): void {
    this.#isScheduled = false;
    const outboxes = [...this.#outboxes];
    this.#outboxes.clear();
    const { self, send } = this.#options;
    for (const [to, { told, passed, answered, asked }] of outboxes) {
      const question = asked.length === 0 ? null : this.#await(to, asked);
      const message: Batch = {
        kind: "batch",
        from: self,
        told,
        passed,
        asked: question,
        answered,
      };
      const isSent = !this.#hasEnded && send(to, message);
      if (!isSent && question !== null) this.#drop(question.id);
    }
  }

  #await(to: string, asked: readonly Pending[]): Asked {
    this.#lastId += 1;
    const id = this.#lastId;
    const waiting: Waiting = { to, open: new Map(asked.entries()), cancel: () => {} };
    this.#waiting.set(id, waiting);
    this.#watch(id, waiting);
    return { id, questions: asked.map(({ question }) => question), takesParts: true };
  }

  /** Gives up each question of a message when it is due, although others of the same message have longer. */
  #watch(id: number, waiting: Waiting): void {
    const { clock } = this.#options;
    let first = Infinity;
    for (const { until } of waiting.open.values()) first = Math.min(first, until);
    const giveUp = (): void => {
      if (this.#waiting.get(id) !== waiting) return;
      for (const [place, { until, settle }] of waiting.open) {
        if (until > first) continue;
        waiting.open.delete(place);
        settle(null);
      }
      if (waiting.open.size === 0) this.#waiting.delete(id);
      else this.#watch(id, waiting);
    };
    // An answer that has arrived already is read first.
    waiting.cancel = clock.after(first - clock.now(), () => clock.soon(giveUp));
  }

  #settle({ id, outcomes, places }: Answered): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    for (const [index, outcome] of outcomes.entries()) {
      const place = places?.[index] ?? index;
      waiting.open.get(place)?.settle(outcome);
      waiting.open.delete(place);
    }
    // An answer that names no places is the only one.
    if (waiting.open.size === 0 || places === undefined) this.#drop(id);
  }

  /** Settles the open questions of a message as unanswered. */
  #drop(id: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    waiting.cancel();
    for (const { settle } of waiting.open.values()) settle(null);
  }
}

function isAtOnce(decided: Outcome | Promise<Outcome>): decided is Outcome {
  return !(decided instanceof Promise);
}

/** Sends what is decided at once together, and each other answer when it is there. */
function sendParts(
  id: number,
  decided: readonly (Outcome | Promise<Outcome>)[],
  send: (answered: Answered) => void,
): void {
  const outcomes: Outcome[] = [];
  const places: number[] = [];
  for (const [place, each] of decided.entries()) {
    if (isAtOnce(each)) {
      outcomes.push(each);
      places.push(place);
    } else void each.then((outcome) => send({ id, outcomes: [outcome], places: [place] }));
  }
  if (outcomes.length > 0) send({ id, outcomes, places });
}
