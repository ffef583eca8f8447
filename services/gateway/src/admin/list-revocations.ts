import type { Database } from "@workflow/db";
import {
  listCompanyIds,
  listFollowUps,
  listKeysRevokedSince,
  listMembersChangedSince,
} from "../store/revocations.ts";
import type { FollowUp, MemberState } from "../store/revocations.ts";

/**
 * Changes that take something back and that no command can make again: passwords and secrets are
 * not in the list, and what somebody paused or deleted may be wanted or not.
 */
const FOLLOW_UP_ACTIONS = [
  "agent.deleted",
  "connection.credentials_replaced",
  "connection.deleted",
  "password.changed",
  "password.set",
  "secret.deleted",
  "secret.replaced",
  "webhook_endpoint.deleted",
  "webhook_endpoint.disabled",
  "webhook_endpoint.secret_rotated",
  "workflow.archived",
  "workflow.paused",
];

/** What one company has taken back. */
export interface CompanyRevocations {
  companyId: string;
  /** The ids of revoked keys. */
  apiKeys: readonly string[];
  /** Members and invitations that were changed, as they are now. */
  members: readonly MemberState[];
  followUps: readonly FollowUp[];
}

/**
 * What each company has taken back since a time, companies without anything left out. It holds ids
 * and roles, no secret. It reads one company after the other: its cost is that of the keys, and of
 * the audit events since then, of all companies.
 *
 * @param since inclusive; some minutes before a backup, as a change may be stored a while after its
 * time was taken
 */
export async function listRevocations(
  database: Database,
  since: Date,
): Promise<CompanyRevocations[]> {
  const revocations: CompanyRevocations[] = [];
  for (const companyId of await listCompanyIds(database)) {
    const apiKeys = await listKeysRevokedSince(database, companyId, since);
    const members = await listMembersChangedSince(database, companyId, since);
    const followUps = await listFollowUps(database, companyId, FOLLOW_UP_ACTIONS, since);
    if (apiKeys.length + members.length + followUps.length === 0) continue;
    revocations.push({ companyId, apiKeys, members, followUps });
  }
  return revocations;
}
