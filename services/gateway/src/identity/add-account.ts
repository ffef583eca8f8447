import type { Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { insertUser } from "../store/companies.ts";
import type { NewUser } from "../store/companies.ts";
import { lockUserId } from "../store/members.ts";

/** How often an account may come and go while it is being looked for. */
const TRIES_MAX = 5;

/** An account to be made; without a hash only one that is there already will do. */
export interface WantedAccount extends Omit<NewUser, "email" | "passwordHash"> {
  passwordHash: string | null;
}

/** The account of an e-mail address. */
export interface Account {
  userId: string;
  /** Whether it was there before: then nothing of it has changed. */
  isKnown: boolean;
}

/**
 * Makes an account, unless the e-mail address, given in lower case, has one. It stays until the
 * transaction ends: somebody who removes it elsewhere waits.
 *
 * @throws AppError CONFLICT when it goes while it is being looked for
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
    // It was removed between the two.
  }
  throw new AppError("CONFLICT", "The person was removed at the same time. Try again.");
}
