import type { AuditCaller } from "@workflow/audit";
import type { Database, Transaction } from "@workflow/db";
import { AppError, isAppError } from "@workflow/errors";
import { LRUCache } from "lru-cache";
import { networkOf } from "../auth/network-of.ts";
import type { Network } from "../auth/network-of.ts";
import {
  ACCOUNT_PAUSES,
  accountSubject,
  KNOWN_NETWORK_MS,
  networkHash,
  networkLimits,
  personLimits,
  REFUSAL_WINDOW_MS,
} from "../auth/sign-in-limits.ts";
import {
  countAccountTry,
  forgetAccountTries,
  isKnownNetwork,
  noteRefusal,
  rememberNetwork,
} from "../store/account-tries.ts";
import { findSignInUser } from "../store/users.ts";
import { countTry } from "../store/sign-in-tries.ts";
import type { TryLimit } from "../store/sign-in-tries.ts";
import { limitReached } from "./count-tries.ts";
import type { RefusedSignIns } from "./refused-sign-ins.ts";

/** The origin of a request. */
export type Origin = Pick<AuditCaller, "client" | "requestId">;

/** A sign-in attempt that may go on. */
export interface CountedTry {
  readonly email: string;
  readonly network: Network;
  /** The key under which a failure counts. */
  readonly subject: Buffer;
}

/** Slows down password guessing, in all gateways together. */
export interface SignInGuard {
  /**
   * Checks, before the body is read, whether the network has attempts left.
   *
   * @throws AppError RATE_LIMITED
   */
  admitNetwork(origin: Origin): Promise<void>;
  /**
   * Counts an attempt for an account as failed until it succeeds. It does the same work for an
   * e-mail address without an account.
   *
   * @throws AppError RATE_LIMITED
   */
  countTry(origin: Origin, email: string): Promise<CountedTry>;
  /** Marks an attempt as successful when the transaction commits; the pauses start anew. */
  forget(transaction: Transaction, counted: CountedTry, userId: string): Promise<void>;
  /**
   * Records a failed attempt in the audit log after the answer, whose time must not depend on it.
   */
  recordFailure(origin: Origin, userId: string, reason: "password" | "company"): void;
}

const REFUSALS_MAX = 10_000;

export function createSignInGuard(database: Database, refused: RefusedSignIns): SignInGuard {
  /**
   * The time until which a limit is known to be used up, so that a flood of attempts costs no query
   * each.
   */
  const usedUp = new LRUCache<string, number>({ max: REFUSALS_MAX });
  const noted = new LRUCache<string, true>({ max: REFUSALS_MAX, ttl: REFUSAL_WINDOW_MS });

  const count = async (limits: readonly TryLimit[]): Promise<void> => {
    for (const limit of limits) {
      const key = limit.subject.toString("base64");
      const knownWaitMs = (usedUp.get(key) ?? 0) - Date.now();
      const waitMs = knownWaitMs > 0 ? knownWaitMs : await countTry(database, limit);
      if (waitMs === null) continue;
      usedUp.set(key, Date.now() + waitMs);
      throw limitReached(limit, waitMs);
    }
  };

  const note = async (origin: Origin, email: string): Promise<void> => {
    const subject = accountSubject(email, null);
    const key = subject.toString("base64");
    if (noted.has(key)) return;
    noted.set(key, true);
    if (!(await noteRefusal(database, subject, REFUSAL_WINDOW_MS))) return;
    const user = await findSignInUser(database, email);
    if (user !== null) refused.record({ ...origin, userId: user.id, reason: "limit" });
  };

  const countAccount = async (network: Network, email: string): Promise<Buffer> => {
    const hash = networkHash(network, email);
    const known = { email, network: hash, sinceMs: KNOWN_NETWORK_MS };
    const isKnown = await isKnownNetwork(database, known);
    const subject = accountSubject(email, isKnown ? hash : null);
    const retryAfterMs = await countAccountTry(database, subject, ACCOUNT_PAUSES);
    if (retryAfterMs === null) return subject;
    const message = "Too many failed tries to sign in to this account. Try again later.";
    throw new AppError("RATE_LIMITED", message, { retryAfterMs });
  };

  return {
    admitNetwork: ({ client }) => count(networkLimits(networkOf(client.ipAddress))),
    async countTry(origin, email) {
      const network = networkOf(origin.client.ipAddress);
      try {
        await count(personLimits(network, email));
        return { email, network, subject: await countAccount(network, email) };
      } catch (error) {
        if (isAppError(error) && error.reason === "RATE_LIMITED") await note(origin, email);
        throw error;
      }
    },
    async forget(transaction, { email, network, subject }, userId) {
      await forgetAccountTries(transaction, subject);
      await rememberNetwork(transaction, userId, networkHash(network, email));
    },
    recordFailure: (origin, userId, reason) => refused.record({ ...origin, userId, reason }),
  };
}
