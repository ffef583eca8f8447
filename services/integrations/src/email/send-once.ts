import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { newUuid } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { SendEmailResponse } from "@workflow/proto/integrations/v1/email";
import type { Logger } from "pino";
import { claimSend, findSend, renewClaim, settleSend } from "../store/email-sends.ts";
import type { EmailKey, SendEnd } from "../store/email-sends.ts";
import type { MailAddress } from "./address.ts";
import { recipientsOf } from "./mail-transport.ts";
import type { Delivery, MailTransport } from "./mail-transport.ts";
import type { ParsedMessage } from "./parse-message.ts";

/** A message whose sender is settled. */
export type AddressedMessage = Omit<ParsedMessage, "from"> & { from: MailAddress };

/** What sending needs. */
export interface SendDependencies {
  database: Database;
  transport: MailTransport;
  logger: Logger;
  /**
   * How long a process that died in the middle holds up its message, in milliseconds; 10 s unless
   * said otherwise. One that lives asks again in time.
   */
  claimMs?: number;
}

/** How long a message may take once its turn has come. */
const SEND_TIMEOUT_MS = 60_000;
const CLAIM_MS = 10_000;
/** So that a renewal may fail twice. */
const RENEWALS_PER_CLAIM = 3.5;
const POLL_MS = 250;

/**
 * Sends a message unless its key says that this has been done; then the outcome is the same again.
 * One caller sends at a time, the others wait for what comes of it. Only when nobody can tell what
 * became of an attempt is the message sent once more, under the same Message-ID.
 *
 * @throws AppError BAD_REQUEST when the server refused the message for good, UPSTREAM_ERROR when it
 * may take it later; the signal's reason when it was aborted
 */
export async function sendOnce(
  dependencies: SendDependencies,
  key: EmailKey,
  message: AddressedMessage,
  signal: AbortSignal,
): Promise<SendEmailResponse> {
  const { database, claimMs = CLAIM_MS } = dependencies;
  const claim = newUuid();
  for (;;) {
    signal.throwIfAborted();
    const askedAt = await claimSend(database, key, claim, claimMs);
    if (askedAt !== null) return sendClaimed(dependencies, key, claim, message, askedAt, signal);
    const known = await findSend(database, key);
    if (known?.state === "sent") return responseOf(key, message, known.rejectedPositions);
    if (known?.state === "refused") {
      throw refusal([known.replyCode, known.replyStatus].filter((part) => part !== null).join(" "));
    }
    await pause(POLL_MS);
  }
}

async function sendClaimed(
  dependencies: SendDependencies,
  key: EmailKey,
  claim: string,
  message: AddressedMessage,
  date: Date,
  signal: AbortSignal,
): Promise<SendEmailResponse> {
  const { transport } = dependencies;
  let delivery: Delivery;
  try {
    delivery = await whileClaimed(dependencies, key, claim, signal, (stop) =>
      transport.send({ ...message, messageId: messageIdOf(key, message.from), date }, stop),
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
    throw refusal(text);
  }
  const { rejected } = delivery;
  const rejectedPositions = recipientsOf(message).flatMap((recipient, position) =>
    rejected.includes(recipient) ? [position] : [],
  );
  await settle(dependencies, key, claim, { state: "sent", rejectedPositions });
  return responseOf(key, message, rejectedPositions);
}

/** Does the work for as long as the claim is held and there is time. */
async function whileClaimed<Result>(
  { database, logger, claimMs = CLAIM_MS }: SendDependencies,
  key: EmailKey,
  claim: string,
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
    // Somebody else may send it by now.
    if (performance.now() >= heldUntil) giveUp("The e-mail could not be finished in time.");
  };
  const renewal = setInterval(() => void renew(), claimMs / RENEWALS_PER_CLAIM);
  const limit = setTimeout(() => {
    giveUp("The mail server did not take the e-mail in time.");
  }, SEND_TIMEOUT_MS);
  try {
    return await work(AbortSignal.any([signal, stop.signal]));
  } finally {
    clearInterval(renewal);
    clearTimeout(limit);
  }
}

/** What is not recorded is no reason to fail: at worst the same message goes out once more. */
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

/** The same for every attempt at a message, so that mail readers show it once. */
function messageIdOf({ companyId, idempotencyKey }: EmailKey, from: MailAddress): string {
  const digest = createHash("sha256").update(`${companyId}\n${idempotencyKey}`).digest("hex");
  const domain = from.wireAddress.slice(from.wireAddress.lastIndexOf("@") + 1);
  return `<${digest.slice(0, 40)}@${domain}>`;
}

function responseOf(
  key: EmailKey,
  message: AddressedMessage,
  rejectedPositions: readonly number[],
): SendEmailResponse {
  const recipients = recipientsOf(message);
  const isRejected = (position: number): boolean => rejectedPositions.includes(position);
  const addresses = recipients.map(({ address }) => address);
  return {
    messageId: messageIdOf(key, message.from),
    accepted: addresses.filter((_, position) => !isRejected(position)),
    rejected: addresses.filter((_, position) => isRejected(position)),
  };
}

function refusal(reply: string): AppError {
  return new AppError("BAD_REQUEST", `The mail server refused the message: ${reply}`);
}
