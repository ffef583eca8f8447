import type { AccountsServiceService } from "@workflow/proto/integrations/v1/accounts";
import type { RpcClient } from "@workflow/rpc";
import { isAppError } from "@workflow/errors";
import { parseBrokerAccount } from "../broker-account.ts";
import { webhooksWith } from "../../service-identity.ts";
import { TurnBatches } from "./turn-batches.ts";

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

interface Question {
  accountIds: readonly string[];
  resolve: (companyIds: readonly string[]) => void;
  reject: (error: unknown) => void;
}

/**
 * Finds the companies that hold an active connection of an account. Questions that arrive together share a call.
 */
export class AccountFinder {
  readonly #accounts: RpcClient<AccountsServiceService>;
  readonly #linesByProvider = new Map<string, TurnBatches<Question>>();

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
    return new Promise((resolve, reject) => {
      this.#batchesOf(provider).add("", { accountIds: asked, resolve, reject });
    });
  }

  /** Only providers with a route get here, so there are few of these. */
  #batchesOf(provider: string): TurnBatches<Question> {
    const known = this.#linesByProvider.get(provider);
    if (known !== undefined) return known;
    const line = new TurnBatches<Question>({
      itemsMax: ACCOUNTS_MAX,
      bytesMax: ACCOUNTS_MAX,
      lanesMax: CALLS_MAX,
      bytesOf: ({ accountIds }) => accountIds.length,
      work: (questions) => this.#ask(provider, questions),
    });
    this.#linesByProvider.set(provider, line);
    return line;
  }

  async #ask(provider: string, questions: readonly Question[]): Promise<void> {
    try {
      const accountIds = new Set(questions.flatMap((question) => question.accountIds));
      const holders = await this.#listHolders(provider, [...accountIds]);
      for (const question of questions) {
        const wanted = new Set(question.accountIds);
        const held = holders.filter(({ accountId }) => wanted.has(accountId));
        question.resolve([...new Set(held.map(({ companyId }) => companyId))].sort());
      }
    } catch (error) {
      for (const question of questions) question.reject(error);
    }
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

  /** A sender could name somebody's connection at the broker as its account. So the provider has to be the same. */
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
