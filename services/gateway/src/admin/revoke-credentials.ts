import type { AuditEntry } from "@workflow/audit";
import type { Database, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { findCompanyIds } from "../store/companies.ts";
import { notifyIdentityChange } from "../store/identity-changes.ts";
import { lockMembers } from "../store/members.ts";
import {
  deleteSessionsCreatedBefore,
  listCompanyIds,
  revokeKeysCreatedBefore,
} from "../store/revocations.ts";
import type { RevokedKey } from "../store/revocations.ts";
import { recordAdminEvent } from "./record-admin-event.ts";
import { tryOrApply } from "./try-or-apply.ts";

/** The kinds of credentials that can be revoked by their age. */
export const CREDENTIAL_KINDS = ["keys", "sessions"] as const;

/** A kind of credentials. */
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/** The credentials to revoke. */
export interface CredentialSelection {
  /** Null for all companies. */
  companyId: string | null;
  /** Exclusive. */
  createdBefore: Date;
  kinds: readonly CredentialKind[];
  /** False for a dry run, which changes nothing. */
  apply: boolean;
}

/** What was revoked, or would be. */
export interface CredentialCount {
  /** Companies with at least one credential among those. */
  companies: number;
  apiKeys: number;
  sessions: number;
}

/**
 * Revokes the API keys and ends the sessions that were created before a time; all gateways refuse
 * them within 5 s. Each company has a transaction of its own, so a failed call may be repeated, and
 * a second one finds nothing left.
 *
 * @throws AppError NOT_FOUND for an unknown company
 */
export async function revokeCredentials(
  database: Database,
  selection: CredentialSelection,
): Promise<CredentialCount> {
  const total: CredentialCount = { companies: 0, apiKeys: 0, sessions: 0 };
  for (const companyId of await companiesOf(database, selection.companyId)) {
    const { apiKeys, sessions } = await tryOrApply(database, selection.apply, (transaction) =>
      revokeInCompany(transaction, companyId, selection),
    );
    if (apiKeys + sessions > 0) total.companies += 1;
    total.apiKeys += apiKeys;
    total.sessions += sessions;
  }
  return total;
}

async function companiesOf(
  database: Database,
  companyId: string | null,
): Promise<readonly string[]> {
  if (companyId === null) return listCompanyIds(database);
  if ((await findCompanyIds(database, [companyId])).size > 0) return [companyId];
  throw new AppError("NOT_FOUND", "Company not found");
}

async function revokeInCompany(
  transaction: Transaction,
  companyId: string,
  { createdBefore, kinds }: CredentialSelection,
) {
  // A request that creates a key holds this lock too, and looks at its own credential under it.
  await lockMembers(transaction, companyId);
  const keys = kinds.includes("keys")
    ? await revokeKeysCreatedBefore(transaction, companyId, createdBefore)
    : [];
  const sessions = kinds.includes("sessions")
    ? await deleteSessionsCreatedBefore(transaction, companyId, createdBefore)
    : 0;
  const entries = [...keys.map(keyRevoked), ...sessionsEnded(companyId, sessions)];
  if (entries.length > 0) {
    await notifyIdentityChange(transaction, { type: "company", id: companyId });
    await recordAdminEvent(transaction, ...entries.map((entry) => ({ companyId, ...entry })));
  }
  return { apiKeys: keys.length, sessions };
}

/** The audit event of a revoked key. */
export function keyRevoked({ id, name }: RevokedKey): AuditEntry {
  return {
    action: "api_key.revoked",
    resourceType: "api_key",
    resourceId: id,
    changes: { name: { from: name, to: null } },
  };
}

/** The one audit event of all sessions that a command ended in a company; none for no session. */
export function sessionsEnded(companyId: string, count: number): AuditEntry[] {
  if (count === 0) return [];
  return [
    {
      action: "company.sessions_ended",
      resourceType: "company",
      resourceId: companyId,
      changes: { sessions: { from: count, to: 0 } },
    },
  ];
}
