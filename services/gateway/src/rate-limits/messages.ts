/** A window in which one more shall be counted, with its limit. */
export type Claimed = readonly [key: string, max: number];

/**
 * The outcome of a claim. First: the index of the window without room, or -1 when all have counted one. Then:
 * milliseconds until it has room; the first window's count; milliseconds until that window's oldest moment leaves.
 */
export type Outcome = readonly [
  refusedBy: number,
  retryAfterMs: number,
  count: number,
  resetMs: number,
];

/**
 * The moments of one source within a window: ages in milliseconds, each followed by a count, oldest first.
 */
export type Ages = readonly number[];

/** A claim about which another gateway is asked. */
export interface Question {
  readonly claims: readonly Claimed[];
  /** True when the claim was let through already. It is counted even without room. */
  readonly isPassed: boolean;
  /** The gateway that received the request. */
  readonly source: string;
  /** How many gateways have handed the claim on, the first one included. */
  readonly hops: number;
}

/** Questions of one message. */
export interface Asked {
  readonly id: number;
  readonly questions: readonly Question[];
  /**
   * True when the sender takes each answer separately. Gateways of the version before leave it out and wait for all
   * answers.
   */
  readonly takesParts?: boolean;
}

/** Answers to questions of one message. */
export interface Answered {
  readonly id: number;
  readonly outcomes: readonly Outcome[];
  /**
   * The places of the answered questions; without it, all questions are answered in their order.
   */
  readonly places?: readonly number[];
}

/** Everything that one turn of the event loop has for one gateway. */
export interface Batch {
  readonly kind: "batch";
  readonly from: string;
  /** What the sender knows of a window and a source. */
  readonly told: readonly (readonly [key: string, source: string, ages: Ages])[];
  /** Requests that were just let through: the source, and the windows that count one more. */
  readonly passed: readonly (readonly [source: string, keys: readonly string[]])[];
  readonly asked: Asked | null;
  readonly answered: readonly Answered[];
}

/** A heartbeat: the sender lives. */
export interface Heartbeat {
  readonly kind: "here";
  readonly from: string;
  /** True when the sender is new or may have missed messages. */
  readonly isNew: boolean;
  /** True when the sender is too slow to be waited for. */
  readonly isSlow: boolean;
  /** When the heartbeat was sent, by the sender's clock. */
  readonly at: number;
  /**
   * For each gateway: the send time of the last heartbeat that the sender has read, by that gateway's clock.
   */
  readonly read: readonly (readonly [address: string, at: number])[];
  /**
   * The membership that the sender knows, once all of its members were told all that it knows; 0 before.
   */
  readonly view: number;
}

/** What gateways tell each other about limits. */
export type GatewayMessage = Batch | Heartbeat | { readonly kind: "bye"; readonly from: string };

/**
 * Reads a message of another gateway. The check is flat and written by hand: a schema took longer than everything
 * else that is done with thousands of ages.
 * @throws TypeError for what no gateway of this version sends
 * @throws SyntaxError for text that is not JSON
 */
export function readGatewayMessage(text: string): GatewayMessage {
  const message: unknown = JSON.parse(text);
  if (!isGatewayMessage(message)) throw new TypeError("The message has another form.");
  return message;
}

/** The fields that a message and its parts may have. */
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
