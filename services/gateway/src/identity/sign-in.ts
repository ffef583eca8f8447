import { newUuid } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { recordAudit } from "../audit/record-audit.ts";
import { verifyPassword } from "../auth/password.ts";
import { SESSION_LIFE_MS } from "../domain/session-life.ts";
import { generateSessionToken, hashSessionToken } from "../auth/session-token.ts";
import { findSession, insertSession } from "../store/sessions.ts";
import type { StoredSession } from "../store/sessions.ts";
import { findSignInUser } from "../store/users.ts";
import type { SignInUser } from "../store/users.ts";
import type { Origin, SignInGuard } from "./sign-in-guard.ts";

/** The input of a sign-in. */
export interface SignInRequest {
  /** In lower case. */
  email: string;
  password: string;
  /**
   * The id of the company to sign in to; by default the last used one, else the first one (D65).
   */
  company?: string | undefined;
}

/** A new session and its token, which is not stored. */
export interface SignedIn {
  token: string;
  session: StoredSession;
}

/**
 * Begins a session of a person (D10). Neither the answer nor its time reveals whether the person
 * exists, or in which companies.
 *
 * @throws AppError RATE_LIMITED after too many attempts; UNAUTHORIZED when e-mail address and
 * password do not match or the person is no member of the company
 */
export async function signIn(
  database: Database,
  guard: SignInGuard,
  request: SignInRequest,
  { client, requestId }: Origin,
): Promise<SignedIn> {
  const origin = { client, requestId };
  const counted = await guard.countTry(origin, request.email);
  const user = await findSignInUser(database, request.email);
  const stored = user?.passwordHash ?? null;
  const isRight = await verifyPassword(request.password, stored, counted.network.site);
  if (user === null) throw wrongCredentials(request);
  const companyId = chooseCompany(user, request.company);
  if (!isRight || companyId === null) {
    guard.recordFailure(origin, user.id, isRight ? "company" : "password");
    throw wrongCredentials(request);
  }
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
    await guard.forget(transaction, counted, user.id);
    const session = isStored ? await findSession(transaction, tokenHash) : null;
    if (session === null) throw wrongCredentials(request);
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

function chooseCompany({ memberships }: SignInUser, wanted: string | undefined): string | null {
  const chosen =
    wanted === undefined
      ? memberships[0]
      : memberships.find(({ companyId }) => companyId === wanted.toLowerCase());
  return chosen?.companyId ?? null;
}

/** The message depends on the request alone, so that it reveals nothing. */
function wrongCredentials({ company }: SignInRequest): AppError {
  const message = "The e-mail address or the password is wrong";
  const or = company === undefined ? "" : ", or the person has not joined this company";
  return new AppError("UNAUTHORIZED", `${message}${or}.`);
}
