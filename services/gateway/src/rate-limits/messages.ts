/** A window that shall count one more, with its limit. */
export type Claimed = readonly [key: string, max: number];

/**
 * What came of a claim: the index of the window that had no room (-1: none, all have counted one), after how
 * many milliseconds it has, and of the first window its count and when the oldest of that leaves.
 */
export type Outcome = readonly [
  refusedBy: number,
  retryAfterMs: number,
  count: number,
  resetMs: number,
];

/** What one source had within a window: ages in milliseconds, each followed by a number, the oldest first. */
export type Ages = readonly number[];

/** A claim that somebody is asked about. */
export interface Question {
  readonly claims: readonly Claimed[];
  /** True where it was let through already: it counts even without room. */
  readonly isPassed: boolean;
  /** The gateway that has the request. */
  readonly source: string;
  /** How many gateways have handed it on, the first one included. */
  readonly hops: number;
}

/** Questions of one message. */
export interface Asked {
  readonly id: number;
  readonly questions: readonly Question[];
  /** The sender takes each answer by itself. Gateways of a former version do not say so, and wait for all. */
  readonly takesParts?: boolean;
}

/** Answers to questions of one message. */
export interface Answered {
  readonly id: number;
  readonly outcomes: readonly Outcome[];
  /** Which of the questions they answer; all of them, in their order, where it is left out. */
  readonly places?: readonly number[];
}

/** What belongs to one turn of the event loop. */
export interface Batch {
  readonly kind: "batch";
  readonly from: string;
  /** What the sender knows of a window and a source. */
  readonly told: readonly (readonly [key: string, source: string, ages: Ages])[];
  /** What was let through just now, and by whom: one more in each of some windows. */
  readonly passed: readonly (readonly [source: string, keys: readonly string[]])[];
  readonly asked: Asked | null;
  readonly answered: readonly Answered[];
}

/** The sender lives. */
export interface Heartbeat {
  readonly kind: "here";
  readonly from: string;
  /** The sender is new, or may have missed messages. */
  readonly isNew: boolean;
  /** The sender takes too long to be waited for. */
  readonly isSlow: boolean;
  /** When it was sent, by the sender's clock. */
  readonly at: number;
  /** Of whom the sender has read a beat, and when the last one of them was sent, by its sender's clock. */
  readonly read: readonly (readonly [address: string, at: number])[];
  /**
   * Stands for the gateways among which the sender knows who is responsible; those were told all that it knows. 0
   * while they were not.
   */
  readonly view: number;
}

/** What gateways tell each other about limits. */
export type GatewayMessage = Batch | Heartbeat | { readonly kind: "bye"; readonly from: string };

/**
 * Reads what another gateway has sent. The check is a flat one by hand: a schema took longer than all else that
 * is done with thousands of ages.
 *
 * @throws TypeError for what no gateway of this version sends, SyntaxError for what is no JSON
 */
export function readGatewayMessage(text: string): GatewayMessage {
  const message: unknown = JSON.parse(text);
  if (!isGatewayMessage(message)) throw new TypeError("The message has another form.");
  return message;
}

/** What a message and its parts may have. */
type Fields = Partial<
  Record<keyof Batch | keyof Heartbeat | keyof Asked | keyof Answered | keyof Question, unknown>
>;

function isGatewayMessage(value: unknown): value is GatewayMessage {
  if (!isObjectOrArray(value) || !isText(value.from)) return false;
  if (value.kind === "here") return isHeartbeat(value);
  return value.kind === "bye" || (value.kind === "batch" && isBatch(value));
}

function isHeartbeat({ isNew, isSlow, at, read, view }: Fields): boolean {
  return (
    typeof isNew === "boolean" &&
    typeof isSlow === "boolean" &&
    isCount(at) &&
    isCount(view) &&
    isListOf(read, isReadOf)
  );
}

function isReadOf(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && isText(value[0]) && isCount(value[1]);
}

function isBatch({ told, passed, asked, answered }: Fields): boolean {
  return (
    isListOf(told, isTold) &&
    isListOf(passed, isPassedOn) &&
    (asked === null || isAsked(asked)) &&
    isListOf(answered, isAnswered)
  );
}

function isAsked(value: unknown): boolean {
  if (!isNumbered(value) || !isListOf(value.questions, isQuestion)) return false;
  return value.takesParts === undefined || typeof value.takesParts === "boolean";
}

function isAnswered(value: unknown): boolean {
  if (!isNumbered(value) || !isListOf(value.outcomes, isOutcome)) return false;
  const { outcomes, places } = value;
  return places === undefined || (isListOf(places, isCount) && places.length === outcomes.length);
}

function isTold(value: unknown): boolean {
  if (!Array.isArray(value) || !isText(value[0]) || !isText(value[1])) return false;
  const ages: unknown = value[2];
  return isListOf(ages, isCount) && ages.length % 2 === 0;
}

function isPassedOn(value: unknown): boolean {
  return Array.isArray(value) && isText(value[0]) && isListOf(value[1], isText);
}

function isQuestion(value: unknown): boolean {
  if (!isObjectOrArray(value)) return false;
  const { claims, isPassed, source, hops } = value;
  return (
    isListOf(claims, isClaimed) && typeof isPassed === "boolean" && isText(source) && isCount(hops)
  );
}

function isClaimed(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && isText(value[0]) && isCount(value[1]);
}

function isOutcome(value: unknown): boolean {
  return isListOf(value, Number.isFinite) && value.length === 4;
}

function isNumbered(value: unknown): value is Fields {
  return isObjectOrArray(value) && isCount(value.id);
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): value is unknown[] {
  return Array.isArray(value) && value.every(isItem);
}

function isObjectOrArray(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
