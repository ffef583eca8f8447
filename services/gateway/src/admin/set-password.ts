import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { hashPassword } from "../auth/password.ts";
import { notifyIdentityChange } from "../store/identity-changes.ts";
import { lockUserId } from "../store/members.ts";
import { deleteOtherSessions } from "../store/sessions.ts";
import { overwritePassword } from "../store/users.ts";
import { emailInput, passwordInput, readInput } from "./inputs.ts";

const input = z.object({ email: emailInput, password: passwordInput });

/** Whose password it shall be. */
export type SetPasswordInput = z.input<typeof input>;

/**
 * Gives a person another password without knowing the old one, and ends all sessions of the person.
 *
 * @throws AppError BAD_REQUEST for bad input, NOT_FOUND for an unknown person
 */
export async function setPassword(
  database: Database,
  request: SetPasswordInput,
): Promise<{ userId: string }> {
  const { email, password } = readInput(input, request);
  const passwordHash = await hashPassword(password);
  return database.transaction(async (transaction) => {
    const userId = await lockUserId(transaction, email);
    if (userId === null) throw new AppError("NOT_FOUND", "User not found");
    await overwritePassword(transaction, userId, passwordHash);
    await deleteOtherSessions(transaction, userId, null);
    await notifyIdentityChange(transaction, { type: "user", id: userId });
    return { userId };
  });
}
