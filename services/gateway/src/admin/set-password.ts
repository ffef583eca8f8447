import type { Database, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { hashPassword } from "../auth/password.ts";
import { notifyIdentityChange } from "../store/identity-changes.ts";
import { lockUserId } from "../store/members.ts";
import { deleteOtherSessions } from "../store/sessions.ts";
import { hasUser, listOwnCompanies, overwritePassword } from "../store/users.ts";
import { emailInput, passwordInput, readInput } from "../identity/inputs.ts";
import { recordAdminEvent } from "./record-admin-event.ts";
import type { AdminEvent } from "./record-admin-event.ts";

const input = z.object({ email: emailInput, password: passwordInput });

/** The account and its new password. */
export type SetPasswordInput = z.input<typeof input>;

/**
 * Sets a person's password without the old one, and ends all sessions of the person.
 *
 * @throws AppError BAD_REQUEST for bad input, NOT_FOUND for an unknown person
 */
export async function setPassword(
  database: Database,
  request: SetPasswordInput,
): Promise<{ userId: string }> {
  const { email, password } = readInput(input, request);
  if (!(await hasUser(database, email))) throw notFound();
  const passwordHash = await hashPassword(password, email);
  return database.transaction(async (transaction) => {
    const userId = await lockUserId(transaction, email);
    if (userId === null) throw notFound();
    await overwritePassword(transaction, userId, passwordHash);
    await deleteOtherSessions(transaction, userId, null);
    await notifyIdentityChange(transaction, { type: "user", id: userId });
    await recordAdminEvent(transaction, ...(await passwordSet(transaction, userId, email)));
    return { userId };
  });
}

/** Recorded for every company that the password opens, and for the installation. */
async function passwordSet(
  transaction: Transaction,
  userId: string,
  email: string,
): Promise<AdminEvent[]> {
  const companies = await listOwnCompanies(transaction, { userId, email });
  const entry = {
    action: "password.set",
    resourceType: "user",
    resourceId: userId,
    changes: { password: { changed: true } },
  } as const;
  const own = companies.filter(({ isInvited }) => !isInvited);
  return [null, ...own.map(({ id }) => id)].map((companyId) => ({ companyId, ...entry }));
}

function notFound(): AppError {
  return new AppError("NOT_FOUND", "User not found");
}
