import type { AuditCaller, AuditTrail } from "@workflow/audit";
import type { GrantedAccess } from "../connections/authorization-flow.ts";
import { sealCredentials } from "../encryption/sealed-credentials.ts";
import { changeConnection } from "../store/connection-changes.ts";
import { completeAttempt } from "../store/authorization-attempts.ts";
import type { AttemptRow } from "../store/authorization-attempts.ts";
import { queueRevocation, queueUnusedGrant } from "../store/revocations.ts";
import type { AttemptContext } from "./prepare-attempt.ts";

/** The request by which a callback came. */
export type CallbackOrigin = Pick<AuditCaller, "requestId" | "client">;

/** Thrown to roll the transaction back when the attempt or its connection has ended. */
class AttemptOverError extends Error {
  override readonly name = "AttemptOverError";
}

/**
 * Stores the granted access and completes the attempt. The connection is active from now on. Its former
 * access is revoked unless it is for the same account. False when the attempt or its connection had
 * ended; the granted access is revoked then.
 */
export async function storeGrant(
  context: AttemptContext & { audit: AuditTrail },
  attempt: AttemptRow,
  granted: GrantedAccess,
  origin: CallbackOrigin,
): Promise<boolean> {
  const credentials = await sealCredentials(context, attempt, granted.credentials);
  try {
    await context.database.transaction(async (transaction) => {
      if (!(await completeAttempt(transaction, attempt))) throw new AttemptOverError();
      // The former account's access can't be revoked later, so it is queued now.
      await queueRevocation(transaction, attempt);
      const row = await changeConnection(transaction, attempt, "authorized", {
        credentials,
        credentialsExpireAt: granted.expiresAt,
        account: granted,
        brokerConnectionId: granted.brokerConnectionId,
        synced: true,
      });
      if (row === null) throw new AttemptOverError();
      await context.audit.record(transaction, callerOf(attempt, origin), {
        action: "connection.authorized",
        resourceType: "connection",
        resourceId: row.id,
        changes: {
          provider: { from: row.provider, to: row.provider },
          externalAccountId: { from: null, to: row.externalAccountId },
        },
      });
    });
  } catch (error) {
    if (!(error instanceof AttemptOverError)) throw error;
    const { provider } = attempt;
    const { fields, brokerConnectionId, externalAccountId } = granted;
    const unused = { provider, fields, credentials, brokerConnectionId, externalAccountId };
    await queueUnusedGrant(context.database, attempt, unused);
    return false;
  }
  context.audit.wake();
  return true;
}

/** The person who comes back is unknown, so the audit log names who began the attempt. */
function callerOf({ companyId, begunBy }: AttemptRow, origin: CallbackOrigin): AuditCaller {
  return { ...origin, identity: { companyId, principal: begunBy } };
}
