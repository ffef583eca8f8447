import { setTimeout as delay } from "node:timers/promises";
import type { AuditTrail } from "@workflow/audit";
import { AppError, isAppError } from "@workflow/errors";
import type { Logger } from "pino";
import { findAttemptByToken, findBrokerAttempt } from "../store/authorization-attempts.ts";
import type { AttemptRow } from "../store/authorization-attempts.ts";
import { findConnection } from "../store/connections.ts";
import { claimConfirmation, releaseConfirmation } from "../store/open-attempts.ts";
import { hashAttemptToken } from "./attempt-token.ts";
import { confirmAttempt } from "./confirm-attempt.ts";
import type { CallbackParams, ConfirmContext } from "./confirm-attempt.ts";
import { AuthorizationRefusedError } from "../connections/authorization-refused.ts";
import type { SharedAsks } from "./shared-asks.ts";
import { storeGrant } from "./store-grant.ts";
import type { CallbackOrigin } from "./store-grant.ts";

/** The dependencies of callbacks. */
export interface CallbackContext extends ConfirmContext {
  audit: AuditTrail;
  logger: Logger;
  waits: CallbackWaits;
  /** Questions to the broker, shared by attempt: anybody can send callbacks for the broker, in any number. */
  brokerAsks: SharedAsks<Refusal>;
}

/** The time that a callback waits while another one of its attempt is handled, in milliseconds. */
export interface CallbackWaits {
  /** The wait for the outcome of the other callback. */
  forOutcomeMs: number;
  /** The latest time to ask itself, since a question takes up to 30 s. */
  toAskMs: number;
}

/** The pause between two questions to the broker about one attempt. */
export const BROKER_PAUSE_MS = 1_000;

/** The defaults. With a question of 30 s they stay below the 45 s that the gateway gives a callback. */
export const CALLBACK_WAITS: CallbackWaits = { forOutcomeMs: 35_000, toAskMs: 10_000 };

/** The problem of an attempt, as a code and for people; null when the account is connected. */
export type Refusal = { code: string; message: string } | null;

/** The outcome of a callback. */
export interface CallbackOutcome {
  attempt: AttemptRow;
  refusal: Refusal;
}

/** Longer than the three answers that a confirmation may wait for, 10 s each. */
const LEASE_MS = 45_000;
/**
 * More than any honest number of tries. Each try asks the provider on behalf of somebody who has the
 * token in `state`. Callbacks for the broker have no token, so no number of them ends an attempt.
 */
const TRIES_MAX = 20;
/** The pauses between polls of another callback; each is 1.5 times as long as the previous one. */
const POLL = { firstMs: 50, longestMs: 1_000 };

const OVER = {
  code: "attempt_over",
  message: "This attempt to connect the account is over; begin a new one.",
};
const ASKED_TOO_OFTEN = {
  code: "too_many_tries",
  message: `The outcome was asked for ${TRIES_MAX} times, which is the most; begin a new attempt.`,
};
const BEING_CONFIRMED = {
  code: "being_confirmed",
  message: "Another request is confirming the account; load this address again in a moment.",
};
const WITHOUT_CODE = {
  code: "missing_code",
  message: "The parameter code is missing: the provider sends it along with state.",
};
const NOT_CONFIRMED = {
  code: "not_confirmed",
  message: "The account has not been authorized (yet).",
};

/**
 * Handles a callback, none of whose content is trusted (D39). The connection changes once, and only
 * when the provider or broker confirms the attempt.
 *
 * @throws AppError NOT_FOUND when the provider has no such attempt
 */
export async function completeAuthorization(
  context: CallbackContext,
  { provider, params }: { provider: string; params: CallbackParams },
  origin: CallbackOrigin,
): Promise<CallbackOutcome> {
  const attempt = await findAttempt(context, params);
  if (attempt === null || attempt.provider !== provider) {
    throw new AppError("NOT_FOUND", "There is no such attempt to connect an account.");
  }
  return { attempt, refusal: await settle(context, attempt, params, origin) };
}

async function findAttempt(
  { database }: CallbackContext,
  params: CallbackParams,
): Promise<AttemptRow | null> {
  const { state, connectionId } = params;
  if (state !== undefined) {
    const hash = hashAttemptToken(state);
    const attempt = hash === null ? null : await findAttemptByToken(database, hash);
    // A provider learns the tokens of embedded attempts only. Any other token in `state` did not come
    // from a provider.
    return attempt?.way === "embedded" ? attempt : null;
  }
  return connectionId === undefined ? null : findBrokerAttempt(database, connectionId);
}

async function settle(
  context: CallbackContext,
  attempt: AttemptRow,
  params: CallbackParams,
  origin: CallbackOrigin,
): Promise<Refusal> {
  if (attempt.state === "completed") return refusalOfCompleted(context, attempt);
  if (attempt.state !== "open") return OVER;
  const said = refusalSaid(params);
  if (said !== null) return said;
  const settleNow = () => settleOpen(context, attempt, params, origin);
  if (attempt.way === "broker") return shareOutcome(context, attempt, settleNow);
  return (params["code"] ?? "") === "" ? WITHOUT_CODE : settleNow();
}

/** The outcome of an attempt that succeeded before. Its connection may have ended or failed since. */
async function refusalOfCompleted(
  { database }: CallbackContext,
  attempt: AttemptRow,
): Promise<Refusal> {
  const connection = await findConnection(database, attempt);
  if (connection === null) return OVER;
  const { status } = connection;
  if (status === "active") return null;
  const message = `The account was connected, but the status of its connection is ${status} by now.`;
  return { code: `connection_${status}`, message };
}

/** The outcome that all callbacks of an attempt share. A callback that can't wait for it is asked to repeat. */
async function shareOutcome(
  { brokerAsks, waits }: CallbackContext,
  { id }: AttemptRow,
  settleNow: () => Promise<Refusal>,
): Promise<Refusal> {
  const answered = new AbortController();
  const late = { signal: answered.signal, ref: false };
  try {
    return await Promise.race([
      brokerAsks.ask(id, settleNow),
      delay(waits.forOutcomeMs, BEING_CONFIRMED, late),
    ]);
  } finally {
    answered.abort();
  }
}

async function settleOpen(
  context: CallbackContext,
  attempt: AttemptRow,
  params: CallbackParams,
  origin: CallbackOrigin,
): Promise<Refusal> {
  const claimed = await claimOrWatch(context, attempt, params);
  return "tries" in claimed
    ? settleClaimed(context, attempt, { params, origin, tries: claimed.tries })
    : claimed.outcome;
}

/** The right to ask, or the outcome when another callback has that right. */
async function claimOrWatch(
  context: CallbackContext,
  attempt: AttemptRow,
  params: CallbackParams,
): Promise<{ tries: number } | { outcome: Refusal }> {
  const { forOutcomeMs, toAskMs } = context.waits;
  const triesMax = attempt.way === "embedded" ? TRIES_MAX : null;
  const claim = { leaseMs: LEASE_MS, triesMax };
  const start = performance.now();
  let pauseMs = POLL.firstMs;
  for (;;) {
    const waitedMs = performance.now() - start;
    const mayAsk = waitedMs <= toAskMs;
    const tries = mayAsk ? await claimConfirmation(context.database, attempt, claim) : null;
    if (tries !== null) return { tries };
    const current = await findAttempt(context, params);
    if (current?.id !== attempt.id) return { outcome: OVER };
    if (current.state === "completed") {
      return { outcome: await refusalOfCompleted(context, current) };
    }
    if (current.state !== "open") return { outcome: OVER };
    const isUsedUp = triesMax !== null && current.tries >= triesMax;
    if (!current.isConfirming && isUsedUp) return { outcome: ASKED_TOO_OFTEN };
    const isVain = !current.isConfirming && !mayAsk;
    if (isVain || waitedMs > forOutcomeMs) return { outcome: BEING_CONFIRMED };
    await delay(pauseMs);
    pauseMs = Math.min(1.5 * pauseMs, POLL.longestMs);
  }
}

async function settleClaimed(
  context: CallbackContext,
  attempt: AttemptRow,
  { params, origin, tries }: { params: CallbackParams; origin: CallbackOrigin; tries: number },
): Promise<Refusal> {
  try {
    const connection = await findConnection(context.database, attempt);
    if (connection === null) return OVER;
    const { fields } = connection;
    const granted = await confirmAttempt(context, attempt, { fields, params });
    if (granted === null) return NOT_CONFIRMED;
    return (await storeGrant(context, attempt, granted, origin)) ? null : OVER;
  } catch (error) {
    return explainRefusal(context, attempt, error);
  } finally {
    await releaseConfirmation(context.database, attempt, tries);
  }
}

function explainRefusal(
  { logger }: CallbackContext,
  { id, companyId, provider }: AttemptRow,
  error: unknown,
): Refusal {
  const facts = { err: error, attempt: id, company: companyId, provider };
  if (error instanceof AuthorizationRefusedError) {
    logger.info(facts, "an account was not authorized");
    return { code: error.code, message: error.message };
  }
  if (!isAppError(error) || error.reason !== "UPSTREAM_ERROR") throw error;
  logger.warn(facts, "the outcome of an authorization could not be asked for");
  return { code: "provider_unreachable", message: error.message };
}

/** The callback's message about a person who has not agreed. It ends nothing, because anybody can send it. */
function refusalSaid({ success, error }: CallbackParams): Refusal {
  if (error === undefined && success !== "false") return null;
  const code = error !== undefined && CODE.test(error) ? error.toLowerCase() : "cancelled";
  return { code, message: `The account was not authorized: ${code}.` };
}

const CODE = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
