import { newUuid } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { AuditCaller } from "@workflow/events";
import { recordAudit } from "../audit/record-audit.ts";
import { verifyPassword } from "../auth/password.ts";
import { SESSION_LIFE_MS } from "../auth/session-life.ts";
import { generateSessionToken, hashSessionToken } from "../auth/session-token.ts";
import { signInLimits } from "../auth/sign-in-limits.ts";
import { findSession, insertSession } from "../store/sessions.ts";
import type { StoredSession } from "../store/sessions.ts";
import { findSignInUser } from "../store/users.ts";
import type { SignInUser } from "../store/users.ts";
import { countTries } from "./count-tries.ts";

/** What a person gives to sign in. */
export interface SignInRequest {
  /** In lower case. */
  email: string;
  password: string;
  /** The company to sign in to; without it, the one of the last time, else the first one. */
  companyId?: string | undefined;
}

/** A new session, and the token that stands for it; it is not stored. */
export interface SignedIn {
  token: string;
  session: StoredSession;
}

/**
 * Begins a session of a person (D10). Whether there is such a person can be told neither from the
 * answer nor from the time that it takes.
 *
 * @throws AppError RATE_LIMITED after too many tries, UNAUTHORIZED when e-mail address and password do
 *   not belong together or to no company, NOT_FOUND when the person is no member of the company
 */
export async function signIn(
  database: Database,
  request: SignInRequest,
  { client, requestId }: Pick<AuditCaller, "client" | "requestId">,
): Promise<SignedIn> {
  await countTries(database, signInLimits(client.ipAddress, request.email));
  const user = await findSignInUser(database, request.email);
  const isRight = await verifyPassword(request.password, user?.passwordHash ?? null);
  if (user === null || !isRight) throw wrongCredentials();
  const companyId = chooseCompany(user, request.companyId);
  const token = generateSessionToken();
  const tokenHash = hashSessionToken(token);
  const id = newUuid();
  return database.transaction(async (transaction) => {
    const isStored = await insertSession(transaction, {
      id,
      tokenHash,
      companyId,
      userId: user.id,
      passwordHash: user.passwordHash,
      endsAt: new Date(Date.now() + SESSION_LIFE_MS),
    });
    const session = isStored ? await findSession(transaction, tokenHash) : null;
    if (session === null) throw wrongCredentials();
    const principal = { type: "user", id: user.id, name: user.name };
    const caller = { identity: { companyId, principal }, client, requestId };
    await recordAudit(transaction, caller, {
      action: "session.created",
      resourceType: "session",
      resourceId: id,
      changes: {},
    });
    return { token, session };
  });
}

function chooseCompany({ memberships }: SignInUser, wanted: string | undefined): string {
  const [preferred] = memberships;
  if (preferred === undefined) throw wrongCredentials();
  if (wanted === undefined) return preferred.companyId;
  const chosen = memberships.find(({ companyId }) => companyId === wanted.toLowerCase());
  if (chosen === undefined) throw new AppError("NOT_FOUND", "Company not found");
  return chosen.companyId;
}

function wrongCredentials(): AppError {
  return new AppError("UNAUTHORIZED", "The e-mail address or the password is wrong.");
}
