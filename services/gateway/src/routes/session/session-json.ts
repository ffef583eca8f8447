import { sessionExpiry } from "../../domain/session-life.ts";
import type { Session } from "../../auth/caller.ts";
import type { Writable } from "../../http/write-json.ts";
import type { OwnCompany } from "../../store/users.ts";

/** The current session, as its person sees it (D10). */
export function sessionJson(
  session: Session,
  companyId: string,
): Readonly<Record<string, Writable>> {
  return {
    user: { id: session.userId, email: session.email, name: session.userName },
    company: { id: companyId, name: session.companyName },
    role: session.role,
    expiresAt: sessionExpiry(session.endsAt, new Date()),
  };
}

/** A company as its person sees it (D65); `invited` while the invitation is open. */
export function companyJson({ id, name, role, isInvited }: OwnCompany): Writable {
  return { id, name, role, ...(isInvited ? { invited: true } : {}) };
}
