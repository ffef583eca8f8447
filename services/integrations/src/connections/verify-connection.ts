import type { Verdict } from "@workflow/catalog";
import { isAppError } from "@workflow/errors";
import type { ProviderHttp } from "../provider-http/provider-http.ts";
import { AuthorizationRefusedError } from "./authorization-refused.ts";
import { NOT_RENEWED } from "../store/connection-renewals.ts";
import { AuthorizationRevokedError } from "./authorization-flow.ts";
import type { OpenConnection } from "./open-connection.ts";
import { isRenewable, renewAuthorization, requireManifest } from "./renew-access.ts";
import type { RenewContext } from "./renew-access.ts";
import { verifyCredentials } from "./verify-credentials.ts";

/** The verdict, and the credentials that it is about: an ended token is renewed first. */
export interface VerifiedConnection {
  verdict: Verdict;
  connection: OpenConnection;
}

/**
 * Asks the provider about a connection's credentials, without changing the status. Tokens of an
 * authorization that have ended, or that the provider refuses, are renewed before they count as bad.
 */
export async function verifyConnection(
  context: RenewContext & { providerHttp: ProviderHttp },
  opened: OpenConnection,
): Promise<VerifiedConnection> {
  const mayRenew = requireManifest(opened).auth.kind === "oauth" && isRenewable(opened);
  if (mayRenew && hasExpired(opened)) {
    const renewed = await renew(context, opened);
    return "verdict" in renewed ? renewed : ask(context, renewed.connection);
  }
  const asked = await ask(context, opened);
  if (!mayRenew || asked.verdict.is !== "bad") return asked;
  const renewed = await renew(context, opened);
  if (!("verdict" in renewed)) return ask(context, renewed.connection);
  if (renewed.verdict.is !== "unknown") return renewed;
  // The provider refuses the token, but the renewal failed for another reason. The background renewal
  // tries again.
  return { ...asked, verdict: { ...asked.verdict, code: NOT_RENEWED } };
}

async function ask(
  { providerHttp }: { providerHttp: ProviderHttp },
  connection: OpenConnection,
): Promise<VerifiedConnection> {
  const { companyId } = connection;
  const keys = { companyId, access: connection };
  const verdict = await verifyCredentials(providerHttp, requireManifest(connection), keys);
  return { verdict, connection };
}

/** The connection with new tokens, or the reason why there are none. */
async function renew(
  context: RenewContext,
  opened: OpenConnection,
): Promise<VerifiedConnection | { connection: OpenConnection }> {
  try {
    const due = { ...opened, expiresAt: new Date(0) };
    return { connection: await renewAuthorization(context, due, { isForced: true }) };
  } catch (error) {
    return { verdict: verdictOf(error), connection: opened };
  }
}

function hasExpired({ expiresAt }: OpenConnection): boolean {
  return expiresAt !== null && expiresAt.getTime() <= Date.now();
}

function verdictOf(error: unknown): Verdict {
  if (error instanceof AuthorizationRevokedError) {
    const message = "The provider has ended the authorization; connect the account again.";
    return { is: "bad", code: error.code, message };
  }
  if (error instanceof AuthorizationRefusedError) {
    return { is: "bad", code: error.code, message: error.message };
  }
  if (isAppError(error) && error.reason !== "INTERNAL_ERROR") {
    return { is: "unknown", code: null, message: error.message };
  }
  throw error;
}
