import type { AuditTrail } from "@workflow/audit";
import type { ConnectionFields, ProviderManifest } from "@workflow/catalog";
import type { Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { RpcContext } from "@workflow/rpc";
import { connectionEntry } from "../connections/connection-audit.ts";
import { newConnectionId } from "../connections/create-row.ts";
import {
  ENDED_CONNECTIONS_KEPT,
  LIVE_CONNECTIONS_MAX,
  tooManyConnections,
} from "../connections/limits.ts";
import { findAuthorizable } from "../store/authorizable-connections.ts";
import { insertConnection, lockConnectionsOf, trimEndedConnections } from "../store/connections.ts";
import type { ConnectionRow } from "../store/connections.ts";
import { fieldsNeeded } from "./oauth-endpoints.ts";
import { beginnerOf, prepareAttempt, storeAttempt } from "./prepare-attempt.ts";
import type { AttemptContext } from "./prepare-attempt.ts";
import { chooseWay } from "./ways.ts";

/** The account that a caller wants to connect. */
export interface AuthorizationWish {
  provider: ProviderManifest;
  /** The name of a new connection. */
  name: string;
  /** Fields of a new connection that the provider's addresses need. */
  fields: ConnectionFields;
  /** The address for the person afterwards, checked by `parseRedirectUrl`; null without one. */
  redirectUrl: string | null;
  publicOrigin: string;
}

/** An attempt that has begun. */
export interface BegunAuthorization {
  connectionId: string;
  authUrl: string;
  isNew: boolean;
}

/**
 * Begins to connect an account of a provider, with a new, pending connection, or with an existing one
 * in error, expired or disconnected. The latter keeps its state until the account is authorized.
 *
 * @throws AppError BAD_REQUEST (an active connection exists, the provider, a missing setting, too many
 * connections); RATE_LIMITED (too many open attempts); UPSTREAM_ERROR
 */
export async function beginAuthorization(
  context: AttemptContext & { audit: AuditTrail },
  wish: AuthorizationWish,
  call: RpcContext,
): Promise<BegunAuthorization> {
  const { provider } = wish;
  chooseWay(provider, context.settings);
  const companyId = call.identity.companyId.toLowerCase();
  const existing = await findAuthorizable(context.database, { companyId, provider: provider.id });
  refuseActive(existing);
  const connectionId = existing?.id ?? newConnectionId();
  const fields = existing?.fields ?? fieldsGiven(wish);
  const key = { companyId, connectionId };
  const begunBy = beginnerOf(call.identity.principal);
  const prepared = await prepareAttempt(context, { ...key, ...wish, fields, begunBy });
  await context.writes.transaction(call, async (transaction) => {
    await lockConnectionsOf(transaction, companyId);
    // The connection may have changed while the broker was asked.
    const now = await findAuthorizable(transaction, { companyId, provider: provider.id });
    refuseActive(now);
    if (existing === null) {
      const created = await insertPending(transaction, { ...key, ...wish, fields });
      await context.audit.record(
        transaction,
        call,
        connectionEntry("connection.created", null, created),
      );
    } else if (now?.id !== existing.id) {
      throw new AppError("CONFLICT", "The connection was changed meanwhile; try again.");
    }
    await storeAttempt(transaction, prepared);
  });
  context.audit.wake();
  return { connectionId, authUrl: prepared.authUrl, isNew: existing === null };
}

function refuseActive(connection: ConnectionRow | null): void {
  if (connection?.status !== "active") return;
  const message =
    "The provider is connected already; disconnect it first, or add another connection with POST /connections.";
  throw new AppError("BAD_REQUEST", message, { details: { connectionId: connection.id } });
}

async function insertPending(
  transaction: Transaction,
  wish: AuthorizationWish & { companyId: string; connectionId: string },
): Promise<ConnectionRow> {
  const { companyId, connectionId, name, fields, provider } = wish;
  const created = await insertConnection(
    transaction,
    {
      companyId,
      connectionId,
      name,
      provider: provider.id,
      status: "pending",
      externalAccountId: null,
      fields,
      metadataJson: null,
      credentials: null,
    },
    LIVE_CONNECTIONS_MAX,
  );
  if (created === null) throw tooManyConnections();
  await trimEndedConnections(transaction, companyId, ENDED_CONNECTIONS_KEPT);
  return created;
}

function fieldsGiven({ provider: { auth }, fields }: AuthorizationWish): ConnectionFields {
  const needed = auth.kind === "oauth" ? fieldsNeeded(auth) : [];
  return Object.fromEntries(Object.entries(fields).filter(([name]) => needed.includes(name)));
}
