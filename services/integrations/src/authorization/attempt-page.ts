import { findProvider } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import { LRUCache } from "lru-cache";
import { findAttemptByToken } from "../store/authorization-attempts.ts";
import type { AttemptRow } from "../store/authorization-attempts.ts";
import { noteLink } from "../store/broker-leftovers.ts";
import { findConnection } from "../store/connections.ts";
import { hashAttemptToken } from "./attempt-token.ts";
import { requireBroker } from "./prepare-attempt.ts";
import type { AttemptContext } from "./prepare-attempt.ts";
import { brokerIntegration } from "../connections/broker-integration.ts";

/** The state of an attempt, as far as its page needs it. */
export interface AttemptStanding {
  attempt: AttemptRow;
  providerName: string;
  /** The outcome that a callback would have now. */
  standing: Standing;
}

/** `ready`: the broker has the account. `completed`: its connection is active. */
export type Standing = "waiting" | "ready" | "completed" | "over";

/** The questions of an attempt's page. */
export interface AttemptPage {
  /** @throws AppError NOT_FOUND */
  standingOf(token: string): Promise<AttemptStanding>;
  /**
   * A new connect link of the broker.
   *
   * @throws AppError NOT_FOUND; BAD_REQUEST (the attempt is over); RATE_LIMITED (too many attempts of
   * the company may have left accounts at the broker); UPSTREAM_ERROR
   */
  connectLinkOf(token: string): Promise<string>;
}

/** A page that polls more often gets the cached answer, so that nobody can flood the broker through us. */
const ASK_BROKER_EVERY_MS = 2_000;
const ATTEMPTS_MAX = 10_000;
/**
 * A link is valid for half an hour at the broker, and a person who has just followed it needs time to
 * finish.
 */
const LINK_LIFE_MS = 60 * 60_000;
/** Each attempt is polled until nobody can finish it any more, so their number is limited. */
const LINKED_ATTEMPTS_MAX = 1_000;

/** Serves the pages of attempts that go through the broker; other attempts have no page. */
export function createAttemptPage(context: AttemptContext): AttemptPage {
  const asked = new LRUCache<string, Promise<boolean>>({
    max: ATTEMPTS_MAX,
    ttl: ASK_BROKER_EVERY_MS,
  });

  const isReady = (attempt: AttemptRow, integration: string): Promise<boolean> => {
    const known = asked.get(attempt.id);
    if (known !== undefined) return known;
    const { companyId, id } = attempt;
    const answer = requireBroker(context)
      .findConnections({ companyId, integration }, id)
      .then(
        (connectionIds) => connectionIds.length > 0,
        // The page goes on waiting and asks again when the broker does not answer.
        () => false,
      );
    asked.set(attempt.id, answer);
    return answer;
  };

  const judge = async (attempt: AttemptRow): Promise<Standing> => {
    if (attempt.state === "completed") {
      const connection = await findConnection(context.database, attempt);
      return connection?.status === "active" ? "completed" : "over";
    }
    if (attempt.state !== "open") return "over";
    const provider = findProvider(attempt.provider);
    const integration = provider === undefined ? "" : brokerIntegration(provider);
    const isThere = context.broker !== null && (await isReady(attempt, integration));
    return isThere ? "ready" : "waiting";
  };

  return {
    async standingOf(token) {
      const attempt = await findPageAttempt(context, token);
      const providerName = findProvider(attempt.provider)?.name ?? attempt.provider;
      return { attempt, providerName, standing: await judge(attempt) };
    },
    async connectLinkOf(token) {
      const { state, companyId, id, provider: providerId } = await findPageAttempt(context, token);
      const provider = findProvider(providerId);
      if (state !== "open" || provider === undefined || context.broker === null) throw isOver();
      const integration = brokerIntegration(provider);
      const terms = { integration, linkLifeMs: LINK_LIFE_MS, max: LINKED_ATTEMPTS_MAX };
      const noted = await noteLink(context.database, { id, companyId }, terms);
      if (noted === "over") throw isOver();
      if (noted === "full") throw tooManyLinked();
      return context.broker.createConnectLink({ companyId, integration }, id);
    },
  };
}

function isOver(): AppError {
  return new AppError("BAD_REQUEST", "This attempt to connect the account is over.");
}

function tooManyLinked(): AppError {
  const message = `At most ${LINKED_ATTEMPTS_MAX} attempts of a company can have sent people to the broker within an hour.`;
  return new AppError("RATE_LIMITED", message, {
    details: { limit: "linkedAuthorizations", max: LINKED_ATTEMPTS_MAX },
    retryAfterMs: LINK_LIFE_MS,
  });
}

async function findPageAttempt({ database }: AttemptContext, token: string): Promise<AttemptRow> {
  const hash = hashAttemptToken(token);
  const attempt = hash === null ? null : await findAttemptByToken(database, hash);
  if (attempt?.way === "broker") return attempt;
  throw new AppError("NOT_FOUND", "There is no such attempt to connect an account.");
}
