import { setTimeout as delay } from "node:timers/promises";
import { provesAccount } from "@workflow/catalog";
import type { Verdict } from "@workflow/catalog";
import type {
  VerifyConnectionRequest,
  VerifyConnectionResponse,
} from "@workflow/proto/integrations/v1/connections";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import { connectionEntry } from "../connections/connection-audit.ts";
import { connectionNotFound, requireConnectionKey } from "../connections/connection-key.ts";
import { openConnection } from "../connections/open-connection.ts";
import type { OpenConnection } from "../connections/open-connection.ts";
import { requireManifest } from "../connections/renew-access.ts";
import type { ConnectionStatus } from "../domain/connection-states.ts";
import { verifyConnection as verify } from "../connections/verify-connection.ts";
import type { VerifiedConnection } from "../connections/verify-connection.ts";
import type { ServiceContext } from "../context.ts";
import { changeConnection } from "../store/connection-changes.ts";
import { findConnection } from "../store/connections.ts";
import { toConnectionMessage } from "./connection-message.ts";

/** The reason why a connection without credentials can't be verified. */
const WITHOUT_CREDENTIALS: Readonly<Partial<Record<ConnectionStatus, string>>> = {
  pending: "The authorization is not completed: complete OAuth at the provider first.",
  disconnected: "The connection is disconnected; connect the account again.",
  abandoned: "The authorization was never completed; connect the account anew.",
};

/** Asks the provider whether the credentials are valid, and sets the status accordingly. */
export function verifyConnection(
  context: ServiceContext,
): UnaryMethod<VerifyConnectionRequest, VerifyConnectionResponse> {
  return rpc({
    scopes: "connections:write",
    async handler({ connectionId }, call) {
      const key = requireConnectionKey(connectionId, call);
      const opened = await openConnection(context, key);
      let error = WITHOUT_CREDENTIALS[opened.status] ?? null;
      if (error === null) {
        const verified = await verifyInTime(context, opened, call.deadline);
        // Credentials that were replaced meanwhile keep their status.
        if (verified.verdict.is !== "unknown") await store(context, call, verified);
        error = verified.verdict.is === "good" ? null : verified.verdict.message;
      }
      const row = await findConnection(context.database, key);
      if (row === null) throw connectionNotFound();
      return {
        healthy: error === null,
        connection: toConnectionMessage(row),
        error: error ?? undefined,
        checkedAt: new Date(),
      };
    },
  });
}

/** The time that is left for the work after the provider's answer. */
const ANSWER_MS = 2_000;
const LATE = "The provider did not answer in time; try again in a moment.";

/**
 * A login, a renewal by another replica and the verification together can take longer than the caller
 * waits. The verification then continues without effect; a renewal in progress still counts for the
 * next one.
 */
async function verifyInTime(
  context: ServiceContext,
  opened: OpenConnection,
  deadline: Date,
): Promise<VerifiedConnection> {
  const late = {
    verdict: { is: "unknown", code: null, message: LATE },
    connection: opened,
  } as const;
  const answered = new AbortController();
  const leftMs = Math.max(0, deadline.getTime() - Date.now() - ANSWER_MS);
  const { signal } = answered;
  try {
    return await Promise.race([verify(context, opened), delay(leftMs, late, { signal })]);
  } finally {
    answered.abort();
  }
}

async function store(
  { database, audit }: ServiceContext,
  call: RpcContext,
  { verdict, connection }: VerifiedConnection,
): Promise<void> {
  await database.transaction(async (transaction) => {
    const before = await findConnection(transaction, connection);
    const ifVersion = connection.version;
    const after =
      verdict.is === "good"
        ? await changeConnection(transaction, connection, "verified", {
            ifVersion,
            externalAccountId: accountSaid(connection, verdict),
          })
        : await changeConnection(transaction, connection, "failed", {
            ifVersion,
            errorMessage: verdict.message,
            errorCode: verdict.code,
          });
    if (after === null) return;
    await audit.record(transaction, call, connectionEntry("connection.verified", before, after));
  });
  audit.wake();
}

/** The account's id by the provider's answer; undefined leaves the stored one. */
function accountSaid(
  connection: OpenConnection,
  verdict: Extract<Verdict, { is: "good" }>,
): string | null | undefined {
  const { auth } = requireManifest(connection);
  if ("accountField" in auth && auth.accountField !== undefined) return undefined;
  const { externalAccountId } = connection;
  if (externalAccountId !== null && provesAccount(verdict, externalAccountId)) return undefined;
  // A domain that the account has lost no longer identifies it.
  return verdict.accountId ?? (verdict.domains === undefined ? undefined : null);
}
