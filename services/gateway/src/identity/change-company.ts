import type { AuditCaller } from "@workflow/audit";
import { isUuid } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { recordAudit } from "../audit/record-audit.ts";
import type { Session } from "../auth/caller.ts";
import { credentialEnded } from "../auth/credential-ended.ts";
import { verifyPassword } from "../auth/password.ts";
import { generateSessionToken, hashSessionToken } from "../auth/session-token.ts";
import { ACCOUNT_PAUSES, invitationSubject, passwordLimits } from "../auth/sign-in-limits.ts";
import { countAccountTry } from "../store/account-tries.ts";
import { insertMembership } from "../store/companies.ts";
import { notifyIdentityChange } from "../store/identity-changes.ts";
import { findInvitation, takeInvitation } from "../store/invitations.ts";
import type { Invitation } from "../store/invitations.ts";
import { lockMembers } from "../store/members.ts";
import { findSession, rebindSession } from "../store/sessions.ts";
import type { SignedIn } from "./sign-in.ts";
import { countTries } from "./count-tries.ts";

/** The company that a signed-in person switches to. */
export interface CompanyChange {
  session: Session;
  /** The token of the session. */
  token: string;
  /** The id of the company, as given. */
  company: string;
  /** The password of the company's invitation, needed once to accept it. */
  invitationPassword: string | undefined;
}

/**
 * Moves a session to another company of its person (D65). Role and scopes are the person's there,
 * and the token is a new one. The first time it accepts the company's invitation.
 *
 * @throws AppError NOT_FOUND for a company where the person is no member; BAD_REQUEST for a missing
 * or wrong password of its invitation; UNAUTHORIZED when the session has ended; RATE_LIMITED
 */
export async function changeCompany(
  database: Database,
  { session, token, company, invitationPassword }: CompanyChange,
  caller: AuditCaller,
): Promise<SignedIn> {
  if (!isUuid(company)) throw notFound();
  const companyId = company.toLowerCase();
  const invitation = await findInvitation(database, companyId, session.email);
  if (invitation !== null) {
    await requirePassword(database, session, invitation, invitationPassword);
  }
  const next = generateSessionToken();
  const tokenHash = hashSessionToken(next);
  return database.transaction(async (transaction) => {
    const isAccepted = await acceptInvitation(transaction, session, invitation);
    const { id, userId } = session;
    const from = hashSessionToken(token);
    const outcome = await rebindSession(transaction, {
      id,
      from,
      to: tokenHash,
      companyId,
      userId,
    });
    if (outcome === "no member") throw notFound();
    const rebound = outcome === "ended" ? null : await findSession(transaction, tokenHash);
    if (rebound === null) throw credentialEnded();
    await notifyIdentityChange(transaction, { type: "session", id });
    await recordChange(transaction, caller, { companyId, session, invitation, isAccepted });
    return { token: next, session: rebound };
  });
}

/**
 * The password proves that this is the person whom the company invited; the account alone does not.
 */
async function requirePassword(
  database: Database,
  { userId }: Session,
  { id, passwordHash }: Invitation,
  given: string | undefined,
): Promise<void> {
  if (given === undefined) {
    throw wrongInvitationPassword(
      "is required to accept the invitation; it is the password that the company has given you",
    );
  }
  await countTries(database, passwordLimits(userId));
  await countInvitationTry(database, id);
  if (await verifyPassword(given, passwordHash, userId)) return;
  throw wrongInvitationPassword("is not the one that the company has given you");
}

/** Guesses of an invitation's password meet growing pauses, as those of an account's do. */
async function countInvitationTry(database: Database, invitationId: string): Promise<void> {
  const subject = invitationSubject(invitationId);
  const retryAfterMs = await countAccountTry(database, subject, ACCOUNT_PAUSES);
  if (retryAfterMs === null) return;
  const message = "Too many wrong passwords for this invitation. Try again later.";
  throw new AppError("RATE_LIMITED", message, { retryAfterMs });
}

async function acceptInvitation(
  transaction: Transaction,
  { userId }: Session,
  invitation: Invitation | null,
): Promise<boolean> {
  if (invitation === null) return false;
  const { companyId } = invitation;
  await lockMembers(transaction, companyId);
  const taken = await takeInvitation(transaction, invitation);
  if (taken === null) return false;
  await insertMembership(transaction, { companyId, userId, role: taken.role });
  return true;
}

/** Neither company's log names the other company. */
async function recordChange(
  transaction: Transaction,
  { identity, requestId, client }: AuditCaller,
  change: {
    companyId: string;
    session: Session;
    invitation: Invitation | null;
    isAccepted: boolean;
  },
): Promise<void> {
  const { companyId, session, invitation, isAccepted } = change;
  const event = { resourceType: "session", resourceId: session.id, changes: {} } as const;
  const left = {
    caller: { identity, requestId, client },
    entries: [{ action: "session.ended", ...event }],
  } as const;
  const joined = {
    action: "member.joined",
    resourceType: "member",
    resourceId: session.userId,
    changes: { invitation: { from: invitation?.id ?? null, to: null } },
  } as const;
  const entered = {
    caller: { identity: { ...identity, companyId }, requestId, client },
    entries: [...(isAccepted ? [joined] : []), { action: "session.created", ...event }],
  } as const;
  const both = identity.companyId === companyId ? [entered] : [left, entered];
  // The chains of companies are locked in one order.
  const inOrder = both.toSorted((one, other) =>
    one.caller.identity.companyId < other.caller.identity.companyId ? -1 : 1,
  );
  for (const { caller, entries } of inOrder) await recordAudit(transaction, caller, ...entries);
}

function wrongInvitationPassword(message: string): AppError {
  return new AppError("BAD_REQUEST", `The request is not valid: invitationPassword ${message}.`, {
    violations: [{ path: ["invitationPassword"], message }],
  });
}

function notFound(): AppError {
  return new AppError("NOT_FOUND", "Company not found");
}
