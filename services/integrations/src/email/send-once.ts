import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { newUuid } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { SendEmailResponse } from "@workflow/proto/integrations/v1/email";
import type { Logger } from "pino";
import { findSend, renewClaim, settleSend } from "../store/email-sends.ts";
import type { EmailKey, SendEnd, SendRow } from "../store/email-sends.ts";
import { ATTACHMENT_LIMITS } from "@workflow/definition";
import type { FileLoader } from "../files/file-loader.ts";
import { claimWithinQuota } from "./claim-within-quota.ts";
import { recipientsOf } from "./delivery.ts";
import type { ParsedMessage } from "./parse-message.ts";
import type { AddressedMessage, Delivery, MailWay } from "./delivery.ts";

/** The dependencies of sending. */
export interface SendDependencies {
  database: Database;
  way: MailWay;
  files: FileLoader;
  logger: Logger;
  /** The limit of a company's recipients per UTC day; 0 is no limit. */
  perDay: number;
  /**
   * The time for which a dead process delays its message, in milliseconds; 10 s by default. A living
   * process renews its claim in time.
   */
  claimMs?: number;
}

/** The time limit of a message once its turn has come. */
const SEND_TIMEOUT_MS = 60_000;
const CLAIM_MS = 10_000;
/** Enough renewals for two of them to fail. */
const RENEWALS_PER_CLAIM = 3.5;
const POLL_MS = 250;
/** The Message-ID's domain for an account whose address only its provider knows (RFC 2606). */
const UNKNOWN_DOMAIN = "mail.invalid";

/**
 * Sends a message once for each key; a repeat gets the first outcome. One caller sends at a time, and
 * the others wait for its outcome. Only an attempt with an unknown outcome is sent again, under the
 * same Message-ID.
 *
 * @throws AppError BAD_REQUEST when the message was refused for good or a file cannot be fetched;
 * UPSTREAM_ERROR when it may be sent later; RATE_LIMITED when the company's day has no room for it; the
 * signal's reason when it was aborted
 */
export async function sendOnce(
  dependencies: SendDependencies,
  key: EmailKey,
  message: AddressedMessage,
  signal: AbortSignal,
): Promise<SendEmailResponse> {
  const { database, way, perDay, claimMs = CLAIM_MS } = dependencies;
  const claim = newUuid();
  const quota = { perDay, recipients: recipientsOf(message).length };
  for (;;) {
    signal.throwIfAborted();
    const askedAt = await claimWithinQuota(database, key, { claim, leaseMs: claimMs }, quota);
    if (askedAt !== null) {
      return sendClaimed(dependencies, { key, claim }, { message, date: askedAt }, signal);
    }
    const known = await findSend(database, key);
    if (known?.state === "sent") return outcomeOf(key, message, known);
    if (known?.state === "refused") {
      const reply = [known.replyCode, known.replyStatus].filter((part) => part !== null).join(" ");
      throw refusal(way.name, reply);
    }
    await pause(POLL_MS);
  }
}

/** The outcome of a message that was sent, whatever its connection's state is now; null otherwise. */
export async function findSent(
  database: Database,
  key: EmailKey,
  message: ParsedMessage,
): Promise<SendEmailResponse | null> {
  const known = await findSend(database, key);
  return known?.state === "sent" ? outcomeOf(key, message, known) : null;
}

/** A message's key, and the claim under which this process sends it. */
interface ClaimedKey {
  key: EmailKey;
  claim: string;
}

async function sendClaimed(
  dependencies: SendDependencies,
  claimed: ClaimedKey,
  { message, date }: { message: AddressedMessage; date: Date },
  signal: AbortSignal,
): Promise<SendEmailResponse> {
  const { key, claim } = claimed;
  const { way, files } = dependencies;
  const messageId = messageIdOf(key, message);
  let delivery: Delivery;
  try {
    delivery = await whileClaimed(dependencies, claimed, signal, (stop) =>
      files.withFiles(
        {
          companyId: key.companyId,
          files: message.attachments,
          path: ["attachments"],
          bytesMax: ATTACHMENT_LIMITS.bytesMax,
          signal: stop,
        },
        (attachments) => way.send({ ...message, attachments, messageId, date }, key, stop),
      ),
    );
  } catch (error) {
    await settle(dependencies, key, claim, { state: "open" });
    throw error;
  }
  if (delivery.kind === "refused") {
    const { code, status, text } = delivery.reply;
    await settle(dependencies, key, claim, {
      state: "refused",
      replyCode: code,
      replyStatus: status,
    });
    throw refusal(way.name, text);
  }
  const { rejected, providerMessageId } = delivery;
  const rejectedPositions = recipientsOf(message).flatMap((recipient, position) =>
    rejected.includes(recipient) ? [position] : [],
  );
  const sentId = providerMessageId ?? messageId;
  await settle(dependencies, key, claim, { state: "sent", rejectedPositions, messageId: sentId });
  return responseOf(message, rejectedPositions, sentId);
}

/** Does the work as long as the claim is held and the time limit allows. */
async function whileClaimed<Result>(
  { database, way, logger, claimMs = CLAIM_MS }: SendDependencies,
  { key, claim }: ClaimedKey,
  signal: AbortSignal,
  work: (stop: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  const giveUp = (message: string): void => stop.abort(new AppError("UPSTREAM_ERROR", message));
  let heldUntil = performance.now() + claimMs;
  const renew = async (): Promise<void> => {
    const askedAt = performance.now();
    try {
      const held = await renewClaim(database, key, claim, claimMs);
      heldUntil = held ? askedAt + claimMs : 0;
    } catch (error) {
      logger.warn({ err: error }, "the claim of an e-mail was not renewed");
    }
    // Another process may be sending the message by now.
    if (performance.now() >= heldUntil) giveUp("The e-mail could not be finished in time.");
  };
  const renewal = setInterval(() => void renew(), claimMs / RENEWALS_PER_CLAIM);
  const limit = setTimeout(() => {
    giveUp(`${way.name} did not take the e-mail in time.`);
  }, SEND_TIMEOUT_MS);
  try {
    return await work(AbortSignal.any([signal, stop.signal]));
  } finally {
    clearInterval(renewal);
    clearTimeout(limit);
  }
}

/** A failed record does not fail the call: at worst the same message is sent again. */
async function settle(
  { database, logger }: SendDependencies,
  key: EmailKey,
  claim: string,
  end: SendEnd,
): Promise<void> {
  try {
    await settleSend(database, key, claim, end);
  } catch (error) {
    logger.warn({ err: error, state: end.state }, "the outcome of an e-mail was not recorded");
  }
}

/** The same id for every attempt at a message, so that mail readers show the message once. */
function messageIdOf(
  { companyId, idempotencyKey }: EmailKey,
  { from }: Pick<ParsedMessage, "from">,
): string {
  const digest = createHash("sha256").update(`${companyId}\n${idempotencyKey}`).digest("hex");
  const domain = from?.wireAddress.slice(from.wireAddress.lastIndexOf("@") + 1) ?? UNKNOWN_DOMAIN;
  return `<${digest.slice(0, 40)}@${domain}>`;
}

function outcomeOf(
  key: EmailKey,
  message: ParsedMessage,
  { rejectedPositions, messageId }: SendRow,
): SendEmailResponse {
  return responseOf(message, rejectedPositions, messageId ?? messageIdOf(key, message));
}

function responseOf(
  message: Pick<ParsedMessage, "to" | "cc" | "bcc">,
  rejectedPositions: readonly number[],
  messageId: string,
): SendEmailResponse {
  const recipients = recipientsOf(message);
  const isRejected = (position: number): boolean => rejectedPositions.includes(position);
  const addresses = recipients.map(({ address }) => address);
  return {
    messageId,
    accepted: addresses.filter((_, position) => !isRejected(position)),
    rejected: addresses.filter((_, position) => isRejected(position)),
  };
}

function refusal(who: string, reply: string): AppError {
  return new AppError("BAD_REQUEST", `${who} refused the message: ${reply}`);
}
