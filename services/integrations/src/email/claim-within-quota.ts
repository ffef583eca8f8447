import { constraintOf } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { claimSend, findSend } from "../store/email-sends.ts";
import type { EmailKey } from "../store/email-sends.ts";
import { insertCountedSend } from "../store/email-usage.ts";

/** The limit of a company's recipients, and the message to count. */
export interface Quota {
  /** EMAIL_PER_DAY; 0 is no limit. */
  perDay: number;
  recipients: number;
}

/**
 * Claims a message, as `claimSend` does, and counts its recipients when the key is new. A message
 * counts once, however often it is sent, and stays counted whatever the outcome: each try is work for
 * the mail server.
 *
 * @throws AppError RATE_LIMITED when the company's day has no room for the recipients; nothing of the
 * message is stored then
 */
export async function claimWithinQuota(
  database: Database,
  key: EmailKey,
  { claim, leaseMs }: { claim: string; leaseMs: number },
  { perDay, recipients }: Quota,
): Promise<Date | null> {
  if (perDay === 0 || (await findSend(database, key)) !== null) {
    return claimSend(database, key, claim, leaseMs);
  }
  try {
    const send = { ...key, claim, leaseMs, recipients };
    const { createdAt, resetsAt } = await insertCountedSend(database, send, perDay);
    // A concurrent call for the same message may have taken the room.
    const isFull = createdAt === null && (await findSend(database, key)) === null;
    if (isFull) throw usedUp(perDay, recipients, resetsAt);
    return createdAt;
  } catch (error) {
    // Another caller with the same key was faster and has counted the message.
    if (constraintOf(error) === "email_sends_pkey") return null;
    throw error;
  }
}

function usedUp(perDay: number, recipients: number, resetsAt: Date): AppError {
  const message = `A company's e-mails have at most ${perDay} recipients a day (EMAIL_PER_DAY), and ${recipients} more would be beyond it. The count begins anew at ${resetsAt.toISOString()}.`;
  return new AppError("RATE_LIMITED", message, {
    details: { limit: "emailPerDay", perDay, resetsAt: resetsAt.toISOString() },
    retryAfterMs: Math.max(0, resetsAt.getTime() - Date.now()),
  });
}
