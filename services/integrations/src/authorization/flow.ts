import type { Credentials } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import { AuthorizationRevokedError } from "../connections/authorization-flow.ts";
import type { AuthorizationFlow, AuthorizedConnection } from "../connections/authorization-flow.ts";
import { fromBroker } from "./confirm-attempt.ts";
import { refreshTokens, revokeTokens } from "./oauth-client.ts";
import type { OAuthTarget } from "./oauth-client.ts";
import { AuthorizationRefusedError } from "./oauth-errors.ts";
import { lockConnectionsOf } from "../store/connections.ts";
import { beginnerOf, prepareAttempt, storeAttempt } from "./prepare-attempt.ts";
import type { AttemptContext } from "./prepare-attempt.ts";
import { brokerIntegration, chooseWay, findApplication } from "./ways.ts";

/** Begins attempts; renews and takes back what they have brought, at the broker or the provider itself. */
export function createAuthorizationFlow(context: AttemptContext): AuthorizationFlow {
  const { providerHttp: http } = context;
  return {
    requireAvailable(provider) {
      chooseWay(provider, context.settings);
    },
    async begin({ begunBy, ...request }) {
      const plan = { ...request, begunBy: beginnerOf(begunBy) };
      const prepared = await prepareAttempt(context, plan);
      await context.database.transaction(async (transaction) => {
        await lockConnectionsOf(transaction, request.companyId);
        await storeAttempt(transaction, prepared);
      });
      return { url: prepared.authUrl };
    },
    async refresh(connection, credentials) {
      const { provider, brokerConnectionId } = connection;
      try {
        if (brokerConnectionId !== null) {
          const broker = requireBrokerOf(context, connection);
          const target = brokerTarget(connection);
          const account = await broker.getAccount(target, brokerConnectionId, { renew: true });
          return fromBroker(provider, account);
        }
        const { refreshToken } = credentials;
        if (refreshToken === undefined) {
          throw new AuthorizationRefusedError("There is no refresh token.", "invalid_grant");
        }
        return await refreshTokens(http, oauthTarget(context, connection), refreshToken);
      } catch (error) {
        if (!(error instanceof AuthorizationRefusedError) || !error.isConsentOver) throw error;
        throw new AuthorizationRevokedError(error.message, error.code, { cause: error });
      }
    },
    async revoke(connection, credentials) {
      const { brokerConnectionId } = connection;
      if (brokerConnectionId !== null) {
        const broker = requireBrokerOf(context, connection);
        await broker.deleteConnection(brokerTarget(connection), brokerConnectionId);
        return;
      }
      if (!hasToken(credentials)) return;
      await revokeTokens(http, oauthTarget(context, connection), credentials);
    },
  };
}

function brokerTarget({ companyId, provider }: AuthorizedConnection) {
  return { companyId, integration: brokerIntegration(provider) };
}

function requireBrokerOf({ broker }: AttemptContext, { provider }: AuthorizedConnection) {
  if (broker !== null) return broker;
  throw notSetUp(provider.name, "NANGO_SECRET_KEY is");
}

function oauthTarget(
  { settings }: AttemptContext,
  { companyId, provider, fields }: AuthorizedConnection,
): OAuthTarget {
  const { auth } = provider;
  const application = findApplication(provider.id, settings);
  if (auth.kind !== "oauth" || application === null) {
    throw notSetUp(provider.name, "its OAuth client and secret are");
  }
  return { companyId, provider, auth, application, fields };
}

function hasToken({ accessToken, refreshToken }: Credentials): boolean {
  return accessToken !== undefined || refreshToken !== undefined;
}

/** The operator has taken a setting away: passes as soon as it is back. */
function notSetUp(name: string, what: string): AppError {
  return new AppError("UPSTREAM_ERROR", `${name} is not set up here: ${what} not set.`);
}
