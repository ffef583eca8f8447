import { answerTogether, Batcher } from "@workflow/async";
import type { AccountsServiceService } from "@workflow/proto/integrations/v1/accounts";
import type { RpcClient } from "@workflow/rpc";
import { isAppError } from "@workflow/errors";
import { parseBrokerAccount } from "../broker-account.ts";
import { webhooksWith } from "../../service-identity.ts";

const ACCOUNTS_MAX = 100;
/** The sender waits for its answer meanwhile. */
const FIND_TIMEOUT_MS = 2_000;
const CALLS_MAX = 4;
const CALL = { identity: webhooksWith("internal:accounts"), timeoutMs: FIND_TIMEOUT_MS };

/** A company that has an active connection of an account. */
interface Holder {
  accountId: string;
  companyId: string;
}

/** A question names accounts; the answer is the companies that hold one of them. */
type Questions = Batcher<readonly string[], readonly string[]>;

/**
 * Finds the companies that hold an active connection of an account. Questions that arrive together share a call.
 */
export class AccountFinder {
  readonly #accounts: RpcClient<AccountsServiceService>;
  readonly #questions = new Map<string, Questions>();

  constructor(accounts: RpcClient<AccountsServiceService>) {
    this.#accounts = accounts;
  }

  /**
   * The companies that hold one of the accounts, each once, in the order of their ids. Only the first 100 accounts
   * are looked up.
   *
   * @throws AppError UNAVAILABLE when the integrations service cannot be asked
   */
  async find(provider: string, accountIds: readonly string[]): Promise<readonly string[]> {
    const asked = [...new Set(accountIds)].slice(0, ACCOUNTS_MAX);
    if (asked.length === 0) return [];
    return this.#questionsTo(provider).ask(asked);
  }

  /** Only providers with a route have questions, so there are few queues. */
  #questionsTo(provider: string): Questions {
    const known = this.#questions.get(provider);
    if (known !== undefined) return known;
    const questions: Questions = new Batcher<readonly string[], readonly string[]>({
      itemsMax: ACCOUNTS_MAX,
      sizeMax: ACCOUNTS_MAX,
      sizeOf: (accountIds) => accountIds.length,
      batchesMax: CALLS_MAX,
      handle: answerTogether((asked) => this.#ask(provider, asked)),
    });
    this.#questions.set(provider, questions);
    return questions;
  }

  async #ask(provider: string, questions: readonly (readonly string[])[]): Promise<string[][]> {
    const holders = await this.#listHolders(provider, [...new Set(questions.flat())]);
    return questions.map((accountIds) => {
      const wanted = new Set(accountIds);
      const held = holders.filter(({ accountId }) => wanted.has(accountId));
      return [...new Set(held.map(({ companyId }) => companyId))].sort();
    });
  }

  async #listHolders(provider: string, accountIds: readonly string[]): Promise<Holder[]> {
    const ofProvider = accountIds.filter((id) => parseBrokerAccount(id) === null);
    const ofBroker = accountIds.filter((id) => parseBrokerAccount(id) !== null);
    const found = await Promise.all([
      this.#listByAccount(provider, ofProvider),
      ...ofBroker.map((accountId) => this.#listByBroker(provider, accountId)),
    ]);
    return found.flat();
  }

  async #listByAccount(provider: string, externalAccountIds: string[]): Promise<Holder[]> {
    if (externalAccountIds.length === 0) return [];
    const request = { provider, externalAccountIds };
    const { connections } = await this.#accounts.findAccounts(request, CALL);
    return connections.map(({ externalAccountId: accountId, companyId }) => ({
      accountId,
      companyId,
    }));
  }

  /**
   * The provider must match, because a sender could name somebody's connection at the broker as its
   * account.
   */
  async #listByBroker(provider: string, accountId: string): Promise<Holder[]> {
    const name = parseBrokerAccount(accountId);
    if (name === null) return [];
    try {
      const found = await this.#accounts.findBrokerConnection(name, CALL);
      const isHeld = found.status === "active" && found.provider === provider;
      return isHeld ? [{ accountId, companyId: found.companyId }] : [];
    } catch (error) {
      if (isAppError(error) && error.reason === "NOT_FOUND") return [];
      throw error;
    }
  }
}
