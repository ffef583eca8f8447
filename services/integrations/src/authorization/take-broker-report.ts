import { AppError } from "@workflow/errors";
import { getNamedByBroker } from "../connections/broker-connection.ts";
import type { BrokerName } from "../connections/broker-connection.ts";
import { openConnection } from "../connections/open-connection.ts";
import { renewAccess, requireManifest } from "../connections/renew-access.ts";
import type { RenewContext } from "../connections/renew-access.ts";
import { storableText } from "../provider-http/storable-text.ts";
import type { FoundConnectionRow } from "../store/account-connections.ts";
import { findBrokerAttemptById } from "../store/authorization-attempts.ts";
import type { AttemptRow } from "../store/authorization-attempts.ts";
import { changeConnection } from "../store/connection-changes.ts";
import { findConnection } from "../store/connections.ts";
import { completeAuthorization } from "./complete-authorization.ts";
import type { CallbackContext } from "./complete-authorization.ts";
import type { CallbackOrigin } from "./store-grant.ts";
import { brokerIntegration } from "../connections/broker-integration.ts";

/** The broker's report about an attempt to connect an account, or about a connected account. */
export interface BrokerReport extends BrokerName {
  /** The id of the attempt, from the connection's tag; empty when the broker sends none. */
  endUserId: string;
  success: boolean;
  /** The broker's error message. */
  error: string;
  /** `creation`, `override` or `refresh`. */
  operation: string;
}

interface ReportContext extends RenewContext {
  authorization: CallbackContext;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MESSAGE_CHARS_MAX = 500;
/** Codes of attempts whose outcome is unknown: the broker may report them again. */
const UNSETTLED: ReadonlySet<string> = new Set([
  "provider_unreachable",
  "being_confirmed",
  "not_confirmed",
]);

/**
 * Handles a report, which is only a reason to ask the broker (D39). A pending connection becomes active
 * when the broker has an account of its attempt. It is in error when the broker has none and says why.
 * A repeated report changes nothing.
 *
 * @throws AppError NOT_FOUND when no attempt and no connection of ours is meant; UPSTREAM_ERROR when
 * the outcome could not be asked for
 */
export async function takeBrokerReport(
  context: ReportContext,
  report: BrokerReport,
  origin: CallbackOrigin,
): Promise<FoundConnectionRow> {
  if (report.operation === "refresh") return takeRefresh(context, report);
  const attempt = await findAttempt(context, report);
  if (attempt === null) return getNamedByBroker(context.database, report);
  if (attempt.state === "open") await settle(context, attempt, report, origin);
  return getConnection(context, attempt);
}

async function findAttempt(
  { database }: ReportContext,
  { endUserId, integrationId }: BrokerReport,
): Promise<AttemptRow | null> {
  const attempt = UUID.test(endUserId) ? await findBrokerAttemptById(database, endUserId) : null;
  if (attempt === null) return null;
  return brokerIntegration(requireManifest(attempt)) === integrationId ? attempt : null;
}

async function settle(
  context: ReportContext,
  attempt: AttemptRow,
  report: BrokerReport,
  origin: CallbackOrigin,
): Promise<void> {
  const { provider, connectionId } = attempt;
  const callback = { provider, params: { connectionId } };
  const { refusal } = await completeAuthorization(context.authorization, callback, origin);
  if (refusal === null) return;
  const isWithoutAccount = refusal.code === "not_confirmed" && !report.success;
  if (UNSETTLED.has(refusal.code) && !isWithoutAccount) {
    throw new AppError("UPSTREAM_ERROR", refusal.message, { details: { code: refusal.code } });
  }
  await changeConnection(context.database, attempt, "refused", {
    errorMessage: isWithoutAccount ? explain(report) : refusal.message,
    errorCode: isWithoutAccount ? "authorization_failed" : refusal.code,
  });
}

/** Asks a broker that could not renew an account to do it now. Its answer to this question counts. */
async function takeRefresh(
  context: ReportContext,
  report: BrokerReport,
): Promise<FoundConnectionRow> {
  const found = await getNamedByBroker(context.database, report);
  if (report.success || found.status !== "active") return found;
  const opened = await openConnection(context, found);
  const { status } = await renewAccess(context, { ...opened, expiresAt: new Date(0) });
  return { ...found, status };
}

function explain({ error }: BrokerReport): string {
  const said = storableText(error).slice(0, MESSAGE_CHARS_MAX);
  return `The account was not authorized${said === "" ? "." : `: ${said}`}`;
}

async function getConnection(
  { database }: ReportContext,
  attempt: AttemptRow,
): Promise<FoundConnectionRow> {
  const connection = await findConnection(database, attempt);
  if (connection === null) throw new AppError("NOT_FOUND", "Connection not found");
  const { companyId, provider, externalAccountId, status } = connection;
  return { connectionId: connection.id, companyId, provider, externalAccountId, status };
}
