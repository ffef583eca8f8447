import type { AuditTrail } from "@workflow/audit";
import type { Database } from "@workflow/db";
import type { KeyRing } from "@workflow/sealing";
import type { CompanyWrites, ProviderSettings } from "@workflow/service";
import type { Logger } from "pino";
import type { AuthorizationFlow } from "../connections/authorization-flow.ts";
import type { ProviderHttp } from "../provider-http/provider-http.ts";
import { verifyCredentials } from "../connections/verify-credentials.ts";
import { createAttemptPage } from "./attempt-page.ts";
import type { AttemptPage } from "./attempt-page.ts";
import { BROKER_PAUSE_MS, CALLBACK_WAITS } from "./complete-authorization.ts";
import type { CallbackContext, CallbackWaits, Refusal } from "./complete-authorization.ts";
import { createAuthorizationFlow } from "./flow.ts";
import { createBroker } from "./nango.ts";
import type { Broker, BrokerOptions } from "./nango.ts";
import { SharedAsks } from "./shared-asks.ts";
import { createOperatorFaults } from "./operator-faults.ts";
import { tellingBroker } from "./telling-broker.ts";

/** What connecting accounts needs of the service around it. */
export interface AuthorizationOptions {
  database: Database;
  writes: CompanyWrites;
  ring: KeyRing;
  providerHttp: ProviderHttp;
  /** What the operator set for each provider, by its id. */
  providers: ReadonlyMap<string, ProviderSettings>;
  /** Null without NANGO_SECRET_KEY. */
  broker: BrokerOptions | null;
  /** How long the provider or broker is waited for; below the leases of who renews and confirms. */
  answerTimeoutMs?: number | undefined;
  /** How long callbacks wait for each other. */
  callbackWaits?: CallbackWaits | undefined;
  logger: Logger;
}

/** Everything by which accounts are connected. */
export interface Authorization {
  flow: AuthorizationFlow;
  attemptPage: AttemptPage;
  /** Null where none is set up. */
  broker: Broker | null;
  /** For callbacks, which leave audit events. */
  withAudit(audit: AuditTrail): CallbackContext;
}

/** A person or a step is waiting meanwhile. */
const ANSWER_TIMEOUT_MS = 10_000;

/** Puts the parts together; nothing is asked of anybody yet. */
export function createAuthorization(options: AuthorizationOptions): Authorization {
  const { database, writes, ring, providers, logger } = options;
  const providerHttp = withTimeout(
    options.providerHttp,
    options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
  );
  const faults = createOperatorFaults(logger);
  const context = {
    database,
    writes,
    ring,
    providerHttp,
    broker:
      options.broker === null
        ? null
        : tellingBroker(createBroker(providerHttp, options.broker), faults),
    faults,
    settings: { hasBroker: options.broker !== null, providers },
  };
  const brokerAsks = new SharedAsks<Refusal>(BROKER_PAUSE_MS);
  return {
    flow: createAuthorizationFlow(context),
    attemptPage: createAttemptPage(context),
    broker: context.broker,
    withAudit: (audit) => ({
      ...context,
      audit,
      logger,
      waits: options.callbackWaits ?? CALLBACK_WAITS,
      findAccount: (provider, { companyId, fields, credentials }) =>
        verifyCredentials(providerHttp, provider, { companyId, access: { fields, credentials } }),
      brokerAsks,
    }),
  };
}

function withTimeout(http: ProviderHttp, timeoutMs: number): ProviderHttp {
  return {
    ...http,
    sendProviderRequest: (request, exchange) =>
      http.sendProviderRequest(request, { ...exchange, timeoutMs }),
  };
}
