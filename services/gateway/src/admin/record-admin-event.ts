import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import type { AuditCaller, AuditEntry } from "@workflow/audit";
import type { Transaction } from "@workflow/db";
import { recordAudit } from "../audit/record-audit.ts";
import { INSTALLATION } from "../audit/verify-audit.ts";
import { findCompanyIds } from "../store/companies.ts";

/** An action of an operator. */
export interface AdminEvent extends AuditEntry {
  /** The id of the company that it concerns; null for the installation as a whole. */
  companyId: string | null;
}

/**
 * Records an admin command in its own transaction. The event stands in the audit chain of the
 * company that it concerns, without one in the installation's chain. The actor has the type
 * `operator` and the name of the operating system's user. Call it last, see `recordAudit`.
 */
export async function recordAdminEvent(
  transaction: Transaction,
  ...events: readonly AdminEvent[]
): Promise<void> {
  const principal = operator();
  const requestId = `admin-${randomUUID()}`;
  const given = events.flatMap(({ companyId }) => companyId ?? []);
  const companyIds = await findCompanyIds(transaction, given);
  const chainOf = ({ companyId }: AdminEvent): string => {
    const id = companyId?.toLowerCase() ?? INSTALLATION;
    return companyIds.has(id) ? id : INSTALLATION;
  };
  // Chains are locked in one order, whatever the order of the events.
  for (const chain of [...new Set(events.map(chainOf))].toSorted()) {
    const caller: AuditCaller = {
      identity: { companyId: chain, principal },
      requestId,
      client: {},
    };
    const entries = events.filter((event) => chainOf(event) === chain);
    await recordAudit(transaction, caller, ...entries);
  }
}

function operator() {
  const name = userName();
  return { type: "operator", id: name, name } as const;
}

/** A user without an entry in the system's list, as in many containers, is named by number. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
