import type { AuditEntry } from "@workflow/audit";
import type { Database, Transaction } from "@workflow/db";
import { ROLES } from "../domain/roles.ts";
import type { Role } from "../domain/roles.ts";
import { endMembership } from "../identity/remove-member.ts";
import { notifyIdentityChange } from "../store/identity-changes.ts";
import { deleteInvitation, updateInvitedRole } from "../store/invitations.ts";
import { countOwners, findMember, lockMembers, updateRole } from "../store/members.ts";
import type { FoundMember } from "../store/members.ts";
import { deleteSessionsCreatedBefore, listCompanyIds, revokeKeys } from "../store/revocations.ts";
import type { MemberState } from "../store/revocations.ts";
import type { CompanyRevocations } from "./list-revocations.ts";
import { recordAdminEvent } from "./record-admin-event.ts";
import { keyRevoked, sessionsEnded } from "./revoke-credentials.ts";
import { tryOrApply } from "./try-or-apply.ts";

/** A list of revocations, and how to apply it. */
export interface RevocationsToApply {
  companies: readonly Pick<CompanyRevocations, "companyId" | "apiKeys" | "members">[];
  /** The time of the list: sessions that began before it end, in all companies. */
  listedAt: Date;
  /** False for a dry run, which changes nothing. */
  apply: boolean;
}

/** A change of a member that was left out. */
export interface LeftMember {
  companyId: string;
  userId: string;
  reason: "last owner";
}

/** What was applied, or would be. */
export interface AppliedRevocations {
  apiKeys: number;
  sessions: number;
  membersRemoved: number;
  rolesLowered: number;
  left: LeftMember[];
}

const WORDS = { removed: "membersRemoved", lowered: "rolesLowered" } as const;

/**
 * Applies revocations to a restored database: revokes keys, removes members and lowers roles, and
 * ends all sessions that the list does not know. It never gives anybody more: a role that was
 * raised stays low. What the database does not know, or has revoked, is passed over, so a second
 * call changes nothing. A company keeps its last owner, who is reported instead. Each company has a
 * transaction of its own; all gateways refuse what was revoked within 5 s.
 */
export async function applyRevocations(
  database: Database,
  { companies, listedAt, apply }: RevocationsToApply,
): Promise<AppliedRevocations> {
  const total: AppliedRevocations = {
    apiKeys: 0,
    sessions: 0,
    membersRemoved: 0,
    rolesLowered: 0,
    left: [],
  };
  const listed = new Map(companies.map((company) => [company.companyId.toLowerCase(), company]));
  for (const companyId of await listCompanyIds(database)) {
    const { apiKeys = [], members = [] } = listed.get(companyId) ?? {};
    const done = await tryOrApply(database, apply, (transaction) =>
      applyInCompany(transaction, { companyId, apiKeys, members }, listedAt),
    );
    total.apiKeys += done.apiKeys;
    total.sessions += done.sessions;
    total.membersRemoved += done.membersRemoved;
    total.rolesLowered += done.rolesLowered;
    total.left.push(...done.left);
  }
  return total;
}

async function applyInCompany(
  transaction: Transaction,
  { companyId, apiKeys, members }: RevocationsToApply["companies"][number],
  listedAt: Date,
): Promise<AppliedRevocations> {
  await lockMembers(transaction, companyId);
  const keys = await revokeKeys(transaction, companyId, apiKeys);
  const sessions = await deleteSessionsCreatedBefore(transaction, companyId, listedAt);
  const done: AppliedRevocations = {
    apiKeys: keys.length,
    sessions,
    membersRemoved: 0,
    rolesLowered: 0,
    left: [],
  };
  const entries = [...keys.map(keyRevoked), ...sessionsEnded(companyId, sessions)];
  for (const state of members) {
    const member = await findMember(transaction, companyId, state.userId);
    if (member === null) continue;
    const change = changeTo(member, state.role);
    if (change === null) continue;
    if (!(await applyToMember(transaction, companyId, member, state.role))) {
      done.left.push({ companyId, userId: state.userId, reason: "last owner" });
      continue;
    }
    done[WORDS[change]] += 1;
    entries.push(memberChanged(member, state.role));
  }
  if (entries.length > 0) {
    await notifyIdentityChange(transaction, { type: "company", id: companyId });
    await recordAdminEvent(transaction, ...entries.map((entry) => ({ companyId, ...entry })));
  }
  return done;
}

/** Null for a member who has no more than the list says. */
function changeTo({ role }: FoundMember, listed: MemberState["role"]): keyof typeof WORDS | null {
  if (listed === null) return "removed";
  return ROLES.indexOf(role) < ROLES.indexOf(listed) ? "lowered" : null;
}

/** False for the last owner, who stays. */
async function applyToMember(
  transaction: Transaction,
  companyId: string,
  { userId, role: before, isInvited }: FoundMember,
  role: Role | null,
): Promise<boolean> {
  const membership = { companyId, userId };
  if (isInvited) {
    if (role === null) await deleteInvitation(transaction, membership);
    else await updateInvitedRole(transaction, { ...membership, role });
    return true;
  }
  if (before === "owner" && (await countOwners(transaction, companyId)) < 2) return false;
  if (role === null) await endMembership(transaction, companyId, userId);
  else await updateRole(transaction, { ...membership, role });
  return true;
}

function memberChanged(member: FoundMember, role: Role | null): AuditEntry {
  const { userId, email } = member;
  return {
    action: role === null ? "member.removed" : "member.role_changed",
    resourceType: "member",
    resourceId: userId,
    changes: {
      ...(role === null ? { email: { from: email, to: null } } : {}),
      role: { from: member.role, to: role },
    },
  };
}
