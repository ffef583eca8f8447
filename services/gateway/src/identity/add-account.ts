import type { Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { insertUser } from "../store/companies.ts";
import type { NewUser } from "../store/companies.ts";
import { lockUserId } from "../store/members.ts";

/** The number of attempts when an account appears and disappears during the lookup. */
const TRIES_MAX = 5;

/** A new account; without a hash only an existing account will do. */
export interface WantedAccount extends Omit<NewUser, "email" | "passwordHash"> {
  passwordHash: string | null;
}

/** The account of an e-mail address. */
export interface Account {
  userId: string;
  /** Whether the account existed before; then nothing of it has changed. */
  isKnown: boolean;
}

/**
 * Creates an account, unless the e-mail address, in lower case, has one. The account is locked
 * until the transaction ends, so a removal elsewhere waits.
 *
 * @throws AppError CONFLICT when the account disappears during the lookup
 */
export async function addAccount(
  transaction: Transaction,
  email: string,
  { id, name, passwordHash }: WantedAccount,
): Promise<Account> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const isMade =
      passwordHash !== null && (await insertUser(transaction, { id, email, name, passwordHash }));
    if (isMade) return { userId: id, isKnown: false };
    const userId = await lockUserId(transaction, email);
    if (userId !== null) return { userId, isKnown: true };
    // The account was removed between the two statements.
  }
  throw new AppError("CONFLICT", "The person was removed at the same time. Try again.");
}
