import type { AuditCaller } from "@workflow/audit";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { recordAudit } from "../audit/record-audit.ts";
import type { Session } from "../auth/caller.ts";
import { hashPassword, verifyPassword } from "../auth/password.ts";
import { passwordLimits } from "../auth/sign-in-limits.ts";
import { notifyIdentityChange } from "../store/identity-changes.ts";
import { deleteOtherSessions } from "../store/sessions.ts";
import { findPasswordHash, replacePassword } from "../store/users.ts";
import { countTries } from "./count-tries.ts";

/** The input of a change of password. */
export interface PasswordChange {
  currentPassword: string;
  newPassword: string;
}

/**
 * Changes the password of a signed-in person and ends all other sessions of that person.
 *
 * @throws AppError RATE_LIMITED after too many attempts; BAD_REQUEST when the current password is
 * wrong; CONFLICT when another request changes it at the same time
 */
export async function changePassword(
  database: Database,
  session: Session,
  { currentPassword, newPassword }: PasswordChange,
  caller: AuditCaller,
): Promise<void> {
  const { userId } = session;
  await countTries(database, passwordLimits(userId));
  const from = await findPasswordHash(database, userId);
  if (!(await verifyPassword(currentPassword, from, userId)) || from === null)
    throw wrongPassword();
  const to = await hashPassword(newPassword, userId);
  await database.transaction(async (transaction) => {
    if (!(await replacePassword(transaction, { userId, from, to }))) {
      throw new AppError("CONFLICT", "The password was changed at the same time.");
    }
    await deleteOtherSessions(transaction, userId, session.id);
    await notifyIdentityChange(transaction, { type: "user", id: userId });
    await recordAudit(transaction, caller, {
      action: "password.changed",
      resourceType: "user",
      resourceId: userId,
      changes: { password: { changed: true } },
    });
  });
}

function wrongPassword(): AppError {
  const message = "is not the current password";
  return new AppError("BAD_REQUEST", `The request is not valid: currentPassword ${message}.`, {
    violations: [{ path: ["currentPassword"], message }],
  });
}
