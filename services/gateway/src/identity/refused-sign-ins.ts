import { toAuditEvent } from "@workflow/audit";
import type { AuditCaller } from "@workflow/audit";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import { toAuditRecord } from "../audit/to-audit-record.ts";
import { appendAudit } from "../audit/append-audit.ts";
import { listMemberships } from "../store/users.ts";

/** A try to sign in as somebody that was refused. */
export interface RefusedSignIn extends Pick<AuditCaller, "client" | "requestId"> {
  userId: string;
  /** `company`: the password was right, but the person is no member of the company that was named. */
  reason: "password" | "company" | "limit";
}

/** Collects refused tries and tells the audit logs of the companies of those who were meant. */
export interface RefusedSignIns {
  record(refused: RefusedSignIn): void;
  /** Writes what has come together, in one transaction. */
  flush(): Promise<void>;
}

/** Some minutes' worth: passwords are compared at five a second. */
const PENDING_MAX = 1_000;

/**
 * A recorder that works behind the answers: whether there is anybody to tell must not show in how long
 * an answer takes. What was not written when the process dies is lost; what could not be written waits.
 */
export function createRefusedSignIns(database: Database, logger: Logger): RefusedSignIns {
  let pending: { refused: RefusedSignIn; event: ReturnType<typeof eventOf> }[] = [];
  return {
    record(refused) {
      if (pending.length >= PENDING_MAX) {
        logger.warn({ userId: refused.userId }, "a refused sign-in is missing from the audit log");
        return;
      }
      // Its time is that of the try.
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
  // Nobody is known who could be the actor; the person is the one who was meant.
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
