import { newUuid } from "@workflow/db";
import type { Database, Queryable, Transaction } from "@workflow/db";
import { fieldProblem } from "@workflow/catalog";
import type { ConnectionFields, OAuthAuth, ProviderManifest } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import type { Principal } from "@workflow/rpc";
import type { KeyRing } from "@workflow/sealing";
import { randomPKCECodeVerifier } from "openid-client";
import type { CompanyWrites } from "@workflow/service";
import type { ConnectionKey } from "../domain/connection-key.ts";
import type { ProviderHttp } from "../provider-http/provider-http.ts";
import type { Beginner } from "../store/authorization-attempts.ts";
import { countOtherAttempts, insertAttempt, replaceOpenAttempt } from "../store/open-attempts.ts";
import type { NewAttempt } from "../store/open-attempts.ts";
import { hashAttemptToken, newAttemptToken } from "./attempt-token.ts";
import type { Broker } from "./nango.ts";
import { authorizationUrl, usesProofKey } from "./oauth-client.ts";
import { fieldsNeeded } from "./oauth-endpoints.ts";
import type { OperatorFaults } from "./operator-faults.ts";
import { parsePublicOrigin } from "./redirect-url.ts";
import { sealVerifier } from "./sealed-verifier.ts";
import { chooseWay } from "./ways.ts";
import type { WaySettings } from "./ways.ts";

/** The dependencies of new attempts. */
export interface AttemptContext {
  database: Database;
  writes: CompanyWrites;
  ring: KeyRing;
  providerHttp: ProviderHttp;
  /** Null without a broker. */
  broker: Broker | null;
  /** Logs faults of the operator. */
  faults: OperatorFaults;
  settings: WaySettings;
}

/** The connection of a new attempt, and its options. */
export interface AttemptPlan extends ConnectionKey {
  provider: ProviderManifest;
  /** Known fields of the account that the provider's addresses may need. */
  fields: ConnectionFields;
  /** The address for the person afterwards, checked by `parseRedirectUrl`; null without one. */
  redirectUrl: string | null;
  /** The public origin of the gateway. */
  publicOrigin: string;
  begunBy: Beginner;
}

/** An attempt that is ready to be stored. */
export interface PreparedAttempt {
  authUrl: string;
  attempt: NewAttempt;
}

/** The time that a person has. The attempt is abandoned afterwards (the contract's "abandoned"). */
export const ATTEMPT_LIFE_MS = 24 * 60 * 60_000;
/** The limit of one company's open attempts. */
const OPEN_ATTEMPTS_MAX = 100;

/**
 * Prepares an attempt without storing it, and checks with the broker, if there is one, that it can
 * begin.
 *
 * @throws AppError BAD_REQUEST (the provider, a missing setting or field), RATE_LIMITED, UPSTREAM_ERROR
 */
export async function prepareAttempt(
  context: AttemptContext,
  plan: AttemptPlan,
): Promise<PreparedAttempt> {
  const { provider, companyId } = plan;
  const way = chooseWay(provider, context.settings);
  requireFieldForms(provider, plan.fields);
  const origin = parsePublicOrigin(plan.publicOrigin);
  await requireRoom(context.database, plan);
  const id = newUuid();
  const token = newAttemptToken();
  const callbackUrl = `${origin}/api/v1/connections/${provider.id}/callback`;
  const attempt: NewAttempt = {
    id,
    companyId,
    connectionId: plan.connectionId,
    provider: provider.id,
    way: way.kind,
    tokenHash: tokenHash(token),
    callbackUrl,
    redirectUrl: plan.redirectUrl,
    verifier: null,
    begunBy: plan.begunBy,
    lifeMs: ATTEMPT_LIFE_MS,
  };
  if (way.kind === "broker") {
    // A link is valid for half an hour and is created again when the person comes. This one only shows
    // that the broker answers and knows the provider.
    await requireBroker(context).createConnectLink({ companyId, integration: way.integration }, id);
    return { authUrl: `${origin}/connect/${token}`, attempt };
  }
  const { auth, application } = way;
  const codeVerifier = usesProofKey(auth) ? randomPKCECodeVerifier() : null;
  const target = { companyId, provider, auth, application, fields: neededFields(auth, plan) };
  const authUrl = await authorizationUrl(target, { state: token, callbackUrl, codeVerifier });
  if (codeVerifier === null) return { authUrl, attempt };
  return {
    authUrl,
    attempt: { ...attempt, verifier: await sealVerifier(context, attempt, codeVerifier) },
  };
}

/**
 * Stores an attempt, which replaces an earlier one of its connection. The transaction must hold the
 * lock of the company's connections.
 *
 * @throws AppError RATE_LIMITED when too many other attempts began meanwhile
 */
export async function storeAttempt(
  transaction: Transaction,
  { attempt }: PreparedAttempt,
): Promise<void> {
  await replaceOpenAttempt(transaction, attempt);
  await requireRoom(transaction, attempt);
  await insertAttempt(transaction, attempt);
}

/** The stored facts about who began an attempt. */
export function beginnerOf({ type, id, name }: Principal): Beginner {
  return { type, id, ...(name === undefined ? {} : { name }) };
}

/** The broker. A way through the broker is chosen only when there is one. */
export function requireBroker({ broker }: Pick<AttemptContext, "broker">): Broker {
  if (broker === null) throw new Error("A way through the broker was chosen without one.");
  return broker;
}

async function requireRoom(database: Queryable, key: ConnectionKey): Promise<void> {
  if ((await countOtherAttempts(database, key)) < OPEN_ATTEMPTS_MAX) return;
  const message = `At most ${OPEN_ATTEMPTS_MAX} accounts of a company can wait to be connected at the same time.`;
  throw new AppError("RATE_LIMITED", message, {
    details: { limit: "openAuthorizations", max: OPEN_ATTEMPTS_MAX },
    retryAfterMs: ROOM_AFTER_MS,
  });
}

/** The time to retry after: places become free when people finish, or after a day. */
const ROOM_AFTER_MS = 10 * 60_000;

/** Checks the form of the fields before the person goes anywhere, because they become hosts of requests. */
function requireFieldForms(provider: ProviderManifest, fields: ConnectionFields): void {
  const wrong = fieldProblem(provider, fields);
  if (wrong === null) return;
  const message = `is not of the form that ${provider.name} has`;
  throw new AppError("BAD_REQUEST", `The request is not valid: ${wrong} ${message}.`, {
    violations: [{ path: [wrong], message }],
  });
}

function neededFields(auth: OAuthAuth, { fields }: AttemptPlan): ConnectionFields {
  const needed = fieldsNeeded(auth);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => needed.includes(name)));
}

function tokenHash(token: string): Buffer {
  const hash = hashAttemptToken(token);
  if (hash === null) throw new Error("A new token has the form of one.");
  return hash;
}
