import type { Credentials, ProviderManifest } from "@workflow/catalog";
import { providerSettingName } from "@workflow/service";
import { AuthorizationRevokedError } from "../connections/authorization-flow.ts";
import type {
  AuthorizationFlow,
  AuthorizedConnection,
  RenewedAccess,
} from "../connections/authorization-flow.ts";
import { fromBroker } from "./confirm-attempt.ts";
import { refreshTokens } from "./oauth-client.ts";
import type { OAuthTarget } from "./oauth-client.ts";
import { AuthorizationRefusedError } from "../connections/authorization-refused.ts";
import { judgeRefusal, settingMissing } from "./operator-faults.ts";
import { lockConnectionsOf } from "../store/connections.ts";
import { revokeTokens } from "./revoke-tokens.ts";
import { beginnerOf, prepareAttempt, storeAttempt } from "./prepare-attempt.ts";
import type { AttemptContext } from "./prepare-attempt.ts";
import { brokerIntegration } from "../connections/broker-integration.ts";
import { chooseWay, findApplication } from "./ways.ts";

/** Begins attempts, and renews and revokes access, at the broker or the provider itself. */
export function createAuthorizationFlow(context: AttemptContext): AuthorizationFlow {
  const { faults } = context;
  return {
    requireAvailable(provider) {
      chooseWay(provider, context.settings);
    },
    async begin({ call, ...request }) {
      const plan = { ...request, begunBy: beginnerOf(call.identity.principal) };
      const prepared = await prepareAttempt(context, plan);
      await context.writes.transaction(call, async (transaction) => {
        await lockConnectionsOf(transaction, request.companyId);
        await storeAttempt(transaction, prepared);
      });
      return { url: prepared.authUrl };
    },
    async refresh(connection, credentials) {
      const { provider } = connection;
      try {
        const renewed = await refresh(context, connection, credentials);
        faults.passed(askedFor(connection));
        return renewed;
      } catch (error) {
        const explained = explainRefusal(provider, error);
        faults.note(explained, askedFor(connection));
        throw explained;
      }
    },
    async revoke(connection, credentials) {
      try {
        await revoke(context, connection, credentials);
      } catch (error) {
        const judged = judgeRefusal(connection.provider, error);
        faults.note(judged, askedFor(connection));
        throw judged;
      }
    },
  };
}

async function refresh(
  context: AttemptContext,
  connection: AuthorizedConnection,
  { refreshToken }: Credentials,
): Promise<RenewedAccess> {
  const { provider, brokerConnectionId } = connection;
  if (brokerConnectionId !== null) {
    const broker = requireBrokerOf(context, connection);
    const target = brokerTarget(connection);
    const account = await broker.getAccount(target, brokerConnectionId, { renew: true });
    return fromBroker(provider, account);
  }
  if (refreshToken === undefined) {
    throw new AuthorizationRefusedError("There is no refresh token.", "invalid_grant");
  }
  return refreshTokens(context.providerHttp, oauthTarget(context, connection), refreshToken);
}

async function revoke(
  context: AttemptContext,
  connection: AuthorizedConnection,
  credentials: Credentials,
): Promise<void> {
  const { brokerConnectionId } = connection;
  if (brokerConnectionId !== null) {
    const broker = requireBrokerOf(context, connection);
    return broker.deleteConnection(brokerTarget(connection), brokerConnectionId);
  }
  if (!hasToken(credentials)) return;
  await revokeTokens(context.providerHttp, oauthTarget(context, connection), credentials);
}

/** Sorts a refusal by who can fix it: the person, the operator, or nobody. */
function explainRefusal(provider: ProviderManifest, error: unknown): unknown {
  if (!(error instanceof AuthorizationRefusedError)) return error;
  const { message, code, isConsentOver } = error;
  if (isConsentOver) return new AuthorizationRevokedError(message, code, { cause: error });
  return judgeRefusal(provider, error);
}

/** The service that is asked about a connection, as fault logs name it. */
function askedFor({ provider, brokerConnectionId }: AuthorizedConnection): string {
  return brokerConnectionId === null ? provider.id : brokerIntegration(provider);
}

function brokerTarget({ companyId, provider }: AuthorizedConnection) {
  return { companyId, integration: brokerIntegration(provider) };
}

function requireBrokerOf({ broker }: AttemptContext, { provider }: AuthorizedConnection) {
  if (broker !== null) return broker;
  throw settingMissing(provider.name, "NANGO_SECRET_KEY");
}

function oauthTarget(
  { settings }: AttemptContext,
  { companyId, provider, fields }: AuthorizedConnection,
): OAuthTarget {
  const { auth } = provider;
  const application = findApplication(provider.id, settings);
  if (auth.kind !== "oauth" || application === null) {
    throw settingMissing(provider.name, providerSettingName(provider.id, "CLIENT_SECRET"));
  }
  return { companyId, provider, auth, application, fields };
}

function hasToken({ accessToken, refreshToken }: Credentials): boolean {
  return accessToken !== undefined || refreshToken !== undefined;
}
