import { toAuditEvent } from "@workflow/audit";
import type { AuditCaller } from "@workflow/audit";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import { toAuditRecord } from "../audit/audit-record.ts";
import { appendAudit } from "../audit/record-audit.ts";
import { listMemberships } from "../store/users.ts";

/** A refused sign-in attempt. */
export interface RefusedSignIn extends Pick<AuditCaller, "client" | "requestId"> {
  userId: string;
  /** `company`: the password was right, but the person is no member of the named company. */
  reason: "password" | "company" | "limit";
}

/** Collects refused attempts and records them in the audit logs of the companies of the account. */
export interface RefusedSignIns {
  record(refused: RefusedSignIn): void;
  /** Writes the collected attempts, in one transaction. */
  flush(): Promise<void>;
}

/** Some minutes' worth: five passwords are compared in a second. */
const PENDING_MAX = 1_000;

/**
 * A recorder that works after the answers, so that their time does not reveal whether the account
 * exists. Attempts that were not written are lost when the process dies; a failed write is
 * repeated.
 */
export function createRefusedSignIns(database: Database, logger: Logger): RefusedSignIns {
  let pending: { refused: RefusedSignIn; event: ReturnType<typeof eventOf> }[] = [];
  return {
    record(refused) {
      if (pending.length >= PENDING_MAX) {
        logger.warn({ userId: refused.userId }, "a refused sign-in is missing from the audit log");
        return;
      }
      // The time of the attempt.
      pending.push({ refused, event: eventOf(refused) });
    },
    async flush() {
      if (pending.length === 0) return;
      const batch = pending;
      pending = [];
      try {
        await database.transaction(async (transaction) => {
          const userIds = [...new Set(batch.map(({ refused }) => refused.userId))];
          const memberships = await listMemberships(transaction, userIds);
          const records = batch.flatMap(({ refused, event }) =>
            memberships
              .filter(({ userId }) => userId === refused.userId)
              .map(({ companyId }) => toAuditRecord({ ...event, companyId })),
          );
          await appendAudit(transaction, records);
        });
      } catch (error) {
        pending = [...batch, ...pending].slice(0, PENDING_MAX);
        throw error;
      }
    },
  };
}

function eventOf({ userId, reason, client, requestId }: RefusedSignIn) {
  // The actor is unknown; the account that was named is the resource.
  const principal = { type: "anonymous", id: "anonymous" };
  return toAuditEvent(
    { identity: { companyId: "", principal }, client, requestId },
    {
      action: "session.refused",
      resourceType: "user",
      resourceId: userId,
      changes: { reason: { from: null, to: reason } },
    },
  );
}
