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

/** What attempts are made with. */
export interface AttemptContext {
  database: Database;
  writes: CompanyWrites;
  ring: KeyRing;
  providerHttp: ProviderHttp;
  /** Null where none is set up. */
  broker: Broker | null;
  /** Told of what is the operator's fault. */
  faults: OperatorFaults;
  settings: WaySettings;
}

/** What an attempt is about. */
export interface AttemptPlan extends ConnectionKey {
  provider: ProviderManifest;
  /** What is known of the account before: fields that the provider's addresses may need. */
  fields: ConnectionFields;
  /** Checked by `parseRedirectUrl`. */
  redirectUrl: string | null;
  /** Where people reach the gateway. */
  publicOrigin: string;
  begunBy: Beginner;
}

/** An attempt that only has to be stored. */
export interface PreparedAttempt {
  authUrl: string;
  attempt: NewAttempt;
}

/** A person has so long; afterwards the attempt is abandoned (the contract's "abandoned"). */
export const ATTEMPT_LIFE_MS = 24 * 60 * 60_000;
/** Attempts of one company that may be open at the same time. */
const OPEN_ATTEMPTS_MAX = 100;

/**
 * Makes an attempt without storing it: asks the broker, where there is one, whether it can be made.
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
    // Its link holds for half an hour and is made anew when the person comes; this one only shows
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
 * Stores an attempt, which takes the place of an earlier one of its connection. The transaction must hold
 * the lock of the company's connections.
 *
 * @throws AppError RATE_LIMITED when too many others have come in between
 */
export async function storeAttempt(
  transaction: Transaction,
  { attempt }: PreparedAttempt,
): Promise<void> {
  await replaceOpenAttempt(transaction, attempt);
  await requireRoom(transaction, attempt);
  await insertAttempt(transaction, attempt);
}

/** What is kept of who began an attempt. */
export function beginnerOf({ type, id, name }: Principal): Beginner {
  return { type, id, ...(name === undefined ? {} : { name }) };
}

/** The broker; a way through it is only chosen where there is one. */
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

/** Places become free when people go on, or after a day. */
const ROOM_AFTER_MS = 10 * 60_000;

/** They become hosts of requests, so they are judged before anybody is sent anywhere. */
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
