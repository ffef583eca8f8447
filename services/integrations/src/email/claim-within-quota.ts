import { constraintOf } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { claimSend, findSend } from "../store/email-sends.ts";
import type { EmailKey } from "../store/email-sends.ts";
import { insertCountedSend } from "../store/email-usage.ts";

/** What a message costs its company. */
export interface Quota {
  /** EMAIL_PER_DAY; 0 is no limit. */
  perDay: number;
  recipients: number;
}

/**
 * Takes the right to send a message, as `claimSend` does, and counts its recipients when the key is new:
 * a message counts once, however often it is asked for. It stays counted whatever becomes of it: the work
 * is the mail server's as soon as it is tried.
 *
 * @throws AppError RATE_LIMITED when the company's day has no room for the recipients; nothing is kept
 * of the message then
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
    // The room may have gone to this very message, asked for at the same time.
    const isFull = createdAt === null && (await findSend(database, key)) === null;
    if (isFull) throw usedUp(perDay, recipients, resetsAt);
    return createdAt;
  } catch (error) {
    // Somebody else came first with the same key, and has counted it.
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
