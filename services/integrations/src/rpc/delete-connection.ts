import type {
  DeleteConnectionRequest,
  DeleteConnectionResponse,
} from "@workflow/proto/integrations/v1/connections";
import { findProvider } from "@workflow/catalog";
import type { Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import { connectionEntry } from "../connections/connection-audit.ts";
import { connectionNotFound, requireConnectionKey } from "../connections/connection-key.ts";
import { TRANSITIONS } from "../domain/connection-states.ts";
import type { ServiceContext } from "../context.ts";
import { replaceOpenAttempt } from "../store/open-attempts.ts";
import { changeConnection, deleteConnection as deleteRow } from "../store/connection-changes.ts";
import { deletePause } from "../store/connection-pauses.ts";
import { findConnection } from "../store/connections.ts";
import type { ConnectionRow } from "../store/connections.ts";
import { queueRevocation } from "../store/revocations.ts";

/** Credentials may be renewed between reading and ending them. Three renewals in a row are a fault. */
const TRIES_MAX = 3;

/**
 * Ends a connection. An authorized account becomes disconnected and loses its credentials; it may be
 * authorized again under its id. A connection with entered keys, or one that was never completed, is
 * deleted. The access is revoked at the provider or broker afterwards, with retries until that
 * succeeds.
 */
export function deleteConnection(
  context: ServiceContext,
): UnaryMethod<DeleteConnectionRequest, DeleteConnectionResponse> {
  return rpc({
    scopes: "connections:write",
    async handler({ connectionId }, call) {
      const key = requireConnectionKey(connectionId, call);
      for (let tried = 0; tried < TRIES_MAX; tried += 1) {
        // The connection is not decrypted, so a connection that can no longer be decrypted can still be
        // ended.
        const connection = await findConnection(context.database, key);
        if (connection === null) throw connectionNotFound();
        // Ending an ended connection is no error, as with other objects (D21).
        if (hasEnded(connection)) {
          if (await endAttempt(context, call, connection)) return {};
        } else if (await end(context, call, connection)) {
          return {};
        }
      }
      throw new AppError("CONFLICT", "The connection is being changed by others; try again.");
    },
  });
}

function hasEnded({ status }: ConnectionRow): boolean {
  return status === "disconnected" || status === "abandoned";
}

/**
 * Whether a person has authorized the connection at the provider or a bank, so that the access can be
 * revoked. An unknown provider of another version can't be asked.
 */
function isAuthorized(connection: ConnectionRow): boolean {
  const kind = findProvider(connection.provider)?.auth.kind;
  const states: readonly string[] = TRANSITIONS.disconnected.from;
  return (kind === "oauth" || kind === "bank") && states.includes(connection.status);
}

/** False when the connection has changed since it was read. */
async function end(
  { writes, audit, revocations, leftovers }: ServiceContext,
  call: RpcContext,
  connection: ConnectionRow,
): Promise<boolean> {
  const { companyId, id: connectionId, credentialsVersion: version } = connection;
  const key = { companyId, connectionId };
  const work = async (transaction: Transaction): Promise<void> => {
    const before = await findConnection(transaction, key);
    const isKept = isAuthorized(connection);
    await replaceOpenAttempt(transaction, key);
    if (isKept) await queueRevocation(transaction, key);
    const after = isKept
      ? await changeConnection(transaction, key, "disconnected", {
          ifVersion: version,
          credentials: null,
          brokerConnectionId: null,
        })
      : await deleteRow(transaction, key, version);
    if (after === null) throw new ChangedMeanwhileError();
    // The connection is locked, so a concurrent pause is either stored already or will find no
    // connection.
    if (isKept) await deletePause(transaction, key);
    const entry = connectionEntry("connection.deleted", before, isKept ? after : null);
    await audit.record(transaction, call, entry);
  };
  try {
    await writes.transaction(call, work);
  } catch (error) {
    if (error instanceof ChangedMeanwhileError) return false;
    throw error;
  }
  audit.wake();
  revocations.wake();
  leftovers.wake();
  return true;
}

/**
 * Ends the attempt to authorize an ended connection again, so that the attempt's address can't
 * reactivate it. False when another call was faster.
 */
async function endAttempt(
  { writes, leftovers }: ServiceContext,
  call: RpcContext,
  { companyId, id: connectionId }: ConnectionRow,
): Promise<boolean> {
  const key = { companyId, connectionId };
  const after = await writes.transaction(call, async (transaction) => {
    await replaceOpenAttempt(transaction, key);
    return findConnection(transaction, key);
  });
  leftovers.wake();
  return after !== null && hasEnded(after);
}

/** Thrown to roll the transaction back. */
class ChangedMeanwhileError extends Error {
  override readonly name = "ChangedMeanwhileError";
}
