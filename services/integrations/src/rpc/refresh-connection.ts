import { AppError, isAppError } from "@workflow/errors";
import type {
  Connection,
  RefreshConnectionRequest,
} from "@workflow/proto/integrations/v1/connections";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { AuthorizationRefusedError } from "../connections/authorization-refused.ts";
import { AuthorizationRevokedError } from "../connections/authorization-flow.ts";
import { connectionEntry } from "../connections/connection-audit.ts";
import { requireConnectionKey } from "../connections/connection-key.ts";
import { openConnection } from "../connections/open-connection.ts";
import type { OpenConnection } from "../connections/open-connection.ts";
import { isRenewable, renewAuthorization, requireManifest } from "../connections/renew-access.ts";
import { TRANSITIONS } from "../domain/connection-states.ts";
import { verifyConnection } from "../connections/verify-connection.ts";
import type { ServiceContext } from "../context.ts";
import { changeConnection } from "../store/connection-changes.ts";
import { NOT_RENEWED } from "../store/connection-renewals.ts";
import { findConnection } from "../store/connections.ts";
import { toConnectionMessage } from "./connection-message.ts";

/** Renews the credentials, or verifies those that can't be renewed. A failure of any kind is an error. */
export function refreshConnection(
  context: ServiceContext,
): UnaryMethod<RefreshConnectionRequest, Connection> {
  const { database, audit } = context;
  return rpc({
    scopes: "connections:write",
    async handler({ connectionId }, call) {
      const key = requireConnectionKey(connectionId, call);
      const opened = await openConnection(context, key);
      const states: readonly string[] = TRANSITIONS.refreshed.from;
      if (!states.includes(opened.status)) {
        const text = `The connection is ${opened.status}; connect the account first.`;
        throw new AppError("BAD_REQUEST", text, { details: { currentStatus: opened.status } });
      }
      const renewed = await renew(context, opened);
      const row = await database.transaction(async (transaction) => {
        const before = await findConnection(transaction, key);
        const refreshed = await changeConnection(transaction, key, "refreshed", {
          ifVersion: renewed.version,
          synced: true,
        });
        // Another call has changed the connection after this one had succeeded.
        if (refreshed === null) return before;
        const entry = connectionEntry("connection.refreshed", before, refreshed);
        await audit.record(transaction, call, entry);
        return refreshed;
      });
      audit.wake();
      if (row === null) throw new AppError("NOT_FOUND", "Connection not found");
      return toConnectionMessage(row);
    },
  });
}

async function renew(context: ServiceContext, opened: OpenConnection): Promise<OpenConnection> {
  try {
    if (requireManifest(opened).auth.kind === "oauth" && isRenewable(opened)) {
      // A person asked for the renewal, so this call waits for a renewal in progress.
      const due = { ...opened, expiresAt: new Date(0) };
      const renewed = await renewAuthorization(context, due, { isForced: true });
      if (renewed.status === "active") return renewed;
      // A concurrent renewal has found that the credentials have ended.
      throw new AppError("UPSTREAM_ERROR", renewed.errorMessage ?? "Connect the account again.");
    }
  } catch (error) {
    throw await fail(context, opened, failureOf(error));
  }
  const { verdict, connection } = await verifyConnection(context, opened);
  if (verdict.is === "good") return connection;
  throw await fail(context, opened, verdict);
}

function failureOf(error: unknown): { message: string; code: string | null } {
  if (error instanceof AuthorizationRevokedError) {
    const message = "The provider has ended the authorization; connect the account again.";
    return { message, code: error.code };
  }
  if (error instanceof AuthorizationRefusedError) {
    return { message: error.message, code: error.code };
  }
  if (isAppError(error) && error.reason !== "INTERNAL_ERROR") {
    // The background renewal tries again, so nobody has to act once the operator has fixed the fault.
    return { message: error.message, code: NOT_RENEWED };
  }
  throw error;
}

/** The contract's answer; the connection shows why it failed. */
async function fail(
  { database }: ServiceContext,
  connection: OpenConnection,
  { message, code }: { message: string; code: string | null },
): Promise<AppError> {
  await changeConnection(database, connection, "failed", {
    ifVersion: connection.version,
    errorMessage: message,
    errorCode: code,
  });
  return new AppError("INTERNAL_ERROR", "The credentials could not be refreshed.", {
    internal: `refreshing ${connection.connectionId} failed: ${message}`,
  });
}
