import type { Scope } from "@workflow/async";
import { buildSubscription, findFailure, MissingFieldError } from "@workflow/catalog";
import type { Database } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import type { ProviderSettings } from "@workflow/service";
import type { Logger } from "pino";
import { scrubberOf } from "../provider-http/credential-scrubber.ts";
import type { ConnectionAccessCache } from "../connections/access.ts";
import { requireManifest } from "../connections/renew-access.ts";
import { ProviderCallError } from "../provider-http/provider-call-error.ts";
import type { ProviderHttp } from "../provider-http/provider-http.ts";
import { storableText } from "../provider-http/storable-text.ts";
import {
  claimSubscriptions,
  noteSubscribed,
  noteSubscriptionFailure,
} from "../store/event-subscriptions.ts";
import type { DueSubscription } from "../store/event-subscriptions.ts";

/** The dependencies of subscriptions. */
export interface SubscribeContext {
  database: Database;
  access: ConnectionAccessCache;
  providerHttp: ProviderHttp;
  /** The operator's settings of each provider, by its id. */
  providers: ReadonlyMap<string, ProviderSettings>;
  logger: Logger;
}

const ROUND_EVERY_MS = 20_000;
/** Limits of one round of a process. The lease is longer than a renewal and a question take. */
const TURN = { limit: 10, perCompany: 2, leaseMs: 120_000 };
const PAUSES = { firstMs: 60_000, longestMs: 6 * 60 * 60_000 };
const ANSWER_TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 256 * 1024;
const MESSAGE_CHARS_MAX = 500;

/**
 * Asks providers to send the events of active connections. This needs a manifest with a subscription,
 * and the operator's target address. A failure is noted and retried; the connection stays as it is.
 */
export function startSubscriptions(context: SubscribeContext, scope: Scope): void {
  const { database, providers, logger } = context;
  const asked = [...providers]
    .filter(([id, { eventsTarget }]) => {
      return eventsTarget !== undefined && requireManifest({ provider: id }).subscription;
    })
    .map(([id]) => id);
  if (asked.length === 0) return;
  scope.loop({
    name: "event-subscriptions",
    intervalMs: ROUND_EVERY_MS,
    logger,
    run: async () => {
      const due = await claimSubscriptions(database, asked, TURN);
      await Promise.all(due.map((each) => subscribe(context, each)));
      return due.length === 0 ? undefined : "again";
    },
  });
}

async function subscribe(context: SubscribeContext, due: DueSubscription): Promise<void> {
  const { database, logger } = context;
  const problem = await ask(context, due);
  if (problem === null) {
    const { renewAfterMs = PAUSES.longestMs } = requireManifest(due).subscription ?? {};
    await noteSubscribed(database, due, renewAfterMs);
    return;
  }
  await noteSubscriptionFailure(database, due, problem, PAUSES);
  const { companyId: company, connectionId: connection, provider } = due;
  logger.warn({ company, connection, provider, problem }, "a provider does not send events");
}

/** Null when the provider sends events now; otherwise the reason why not, without credentials. */
async function ask(
  { access, providerHttp, providers }: SubscribeContext,
  { companyId, connectionId, provider: id }: DueSubscription,
): Promise<string | null> {
  const provider = requireManifest({ provider: id });
  const { eventsTarget: target = "", baseUrl } = providers.get(id) ?? {};
  try {
    const opened = await access.getAccess(companyId, connectionId);
    if (opened.status !== "active") return `The connection is ${opened.status}.`;
    const request = buildSubscription(provider, opened, { target, baseUrl });
    if (request === null) return null;
    const limits = { timeoutMs: ANSWER_TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX };
    const exchange = { companyId, provider: id, ...limits };
    const answer = await providerHttp.sendProviderRequest(request, exchange);
    const failure = findFailure(provider, answer, Date.now());
    if (failure === null) return null;
    const { beginning } = scrubberOf(provider, opened);
    return storableText(await beginning(failure.message, MESSAGE_CHARS_MAX));
  } catch (error) {
    const isExpected = error instanceof MissingFieldError || error instanceof ProviderCallError;
    if (isExpected || isAppError(error)) return error.message.slice(0, MESSAGE_CHARS_MAX);
    throw error;
  }
}
