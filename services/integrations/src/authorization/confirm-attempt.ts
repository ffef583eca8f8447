import { fieldProblem } from "@workflow/catalog";
import type { ConnectionFields, ProviderManifest } from "@workflow/catalog";
import { providerSettingName } from "@workflow/service";
import type { AttemptRow } from "../store/authorization-attempts.ts";
import { requireManifest } from "../connections/renew-access.ts";
import { describeAccount } from "./ask-account.ts";
import type { FindAccount, FreshGrant } from "./ask-account.ts";
import type { GrantedAccess } from "../connections/authorization-flow.ts";
import type { BrokerAccount } from "./nango.ts";
import { AuthorizationRefusedError } from "../connections/authorization-refused.ts";
import { callbackFields, exchangeCode, readFields } from "./oauth-client.ts";
import { fieldsNeeded } from "./oauth-endpoints.ts";
import { judgeRefusal, settingMissing } from "./operator-faults.ts";
import { requireBroker } from "./prepare-attempt.ts";
import type { AttemptContext } from "./prepare-attempt.ts";
import { openVerifier } from "./sealed-verifier.ts";
import { brokerIntegration } from "../connections/broker-integration.ts";
import { findApplication } from "./ways.ts";

/** The dependencies of confirmations. */
export interface ConfirmContext extends AttemptContext {
  findAccount: FindAccount;
}

/** The parameters of a callback, each once. */
export type CallbackParams = Readonly<Record<string, string>>;

/**
 * Asks for the outcome of an attempt: the provider, by exchanging the code, or the broker. Null while
 * the broker has none.
 *
 * @param fields the connection's
 * @param params the callback's
 * @throws AuthorizationRefusedError, AppError UPSTREAM_ERROR
 */
export async function confirmAttempt(
  context: ConfirmContext,
  attempt: AttemptRow,
  { fields, params }: { fields: ConnectionFields; params: CallbackParams },
): Promise<GrantedAccess | null> {
  const provider = requireManifest(attempt);
  const grant = await askForGrant(context, attempt, provider, { fields, params });
  if (grant === null) return null;
  const { companyId } = attempt;
  const baseUrl =
    attempt.way === "embedded"
      ? findApplication(provider.id, context.settings)?.oauthBaseUrl
      : undefined;
  requireForms(provider, grant.fields);
  const granted = await describeAccount(context, { provider, companyId, baseUrl }, grant);
  requireForms(provider, granted.fields);
  return granted;
}

/** Null while the broker has no account. Faults of the operator are logged. */
async function askForGrant(
  context: ConfirmContext,
  attempt: AttemptRow,
  provider: ProviderManifest,
  callback: { fields: ConnectionFields; params: CallbackParams },
): Promise<FreshGrant | null> {
  const isBroker = attempt.way === "broker";
  try {
    return isBroker
      ? await askBroker(context, attempt, provider)
      : await exchange(context, attempt, provider, callback);
  } catch (error) {
    context.faults.note(error, isBroker ? brokerIntegration(provider) : provider.id);
    throw error;
  }
}

/** Checks the form of a callback's parameters, because they become hosts and paths of requests. */
function requireForms(provider: ProviderManifest, fields: ConnectionFields): void {
  const wrong = fieldProblem(provider, fields);
  if (wrong === null) return;
  const message = `What came back is not ${provider.name}'s: ${wrong} is not of the right form.`;
  throw new AuthorizationRefusedError(message, "invalid_field");
}

/** The address of the token request may depend on a parameter: NetSuite's account. */
function requireNeeded(provider: ProviderManifest, fields: ConnectionFields): void {
  const needed = provider.auth.kind === "oauth" ? fieldsNeeded(provider.auth) : [];
  const missing = needed.find((name) => !Object.hasOwn(fields, name));
  if (missing === undefined) return;
  const message = `${provider.name} did not say which account it is: ${missing} is missing.`;
  throw new AuthorizationRefusedError(message, "invalid_field");
}

async function exchange(
  context: ConfirmContext,
  attempt: AttemptRow,
  provider: ProviderManifest,
  { fields, params }: { fields: ConnectionFields; params: CallbackParams },
): Promise<FreshGrant> {
  const application = findApplication(provider.id, context.settings);
  if (provider.auth.kind !== "oauth" || application === null) {
    throw settingMissing(provider.name, providerSettingName(provider.id, "CLIENT_SECRET"));
  }
  const { companyId, callbackUrl } = attempt;
  const brought = callbackFields(provider.auth, params);
  requireForms(provider, brought);
  requireNeeded(provider, { ...fields, ...brought });
  const target = { companyId, provider, auth: provider.auth, application, fields };
  const journey = {
    state: params["state"] ?? "",
    callbackUrl,
    codeVerifier: await openVerifier(context.ring, attempt),
  };
  try {
    const granted = await exchangeCode(context.providerHttp, target, journey, params);
    context.faults.passed(provider.id);
    return { ...granted, brokerConnectionId: null };
  } catch (error) {
    throw judgeRefusal(provider, error);
  }
}

async function askBroker(
  context: ConfirmContext,
  { id, companyId }: AttemptRow,
  provider: ProviderManifest,
): Promise<FreshGrant | null> {
  if (context.broker === null) throw settingMissing(provider.name, "NANGO_SECRET_KEY");
  const broker = requireBroker(context);
  const target = { companyId, integration: brokerIntegration(provider) };
  const [connectionId] = await broker.findConnections(target, id);
  if (connectionId === undefined) return null;
  return fromBroker(provider, await broker.getAccount(target, connectionId));
}

/** The broker's account in the form of the provider's manifest. */
export function fromBroker(provider: ProviderManifest, account: BrokerAccount): FreshGrant {
  const { accessToken, expiresAt, raw, config } = account;
  const { auth } = provider;
  return {
    credentials: { accessToken },
    expiresAt,
    fields:
      auth.kind === "oauth"
        ? {
            ...callbackFields({ ...auth, callbackFields: sameNames(fieldsNeeded(auth)) }, config),
            ...callbackFields(auth, config),
            ...readFields(auth, raw),
          }
        : {},
    brokerConnectionId: account.connectionId,
  };
}

/** The person's entries at the broker, by the names that addresses use. */
function sameNames(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, name]));
}
