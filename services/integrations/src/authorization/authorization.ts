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

/** The dependencies of connecting accounts. */
export interface AuthorizationOptions {
  database: Database;
  writes: CompanyWrites;
  ring: KeyRing;
  providerHttp: ProviderHttp;
  /** The operator's settings of each provider, by its id. */
  providers: ReadonlyMap<string, ProviderSettings>;
  /** Null without NANGO_SECRET_KEY. */
  broker: BrokerOptions | null;
  /**
   * The time limit of an answer from the provider or broker, shorter than the leases of renewals and
   * confirmations.
   */
  answerTimeoutMs?: number | undefined;
  /** The time for which callbacks wait for each other. */
  callbackWaits?: CallbackWaits | undefined;
  logger: Logger;
}

/** The parts that connect accounts. */
export interface Authorization {
  flow: AuthorizationFlow;
  attemptPage: AttemptPage;
  /** Null without a broker. */
  broker: Broker | null;
  /** The context of callbacks, which record audit events. */
  withAudit(audit: AuditTrail): CallbackContext;
}

/** Short, because a person or a step waits for the answer. */
const ANSWER_TIMEOUT_MS = 10_000;

/** Creates the parts; no request is sent yet. */
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
