import { newUuid } from "@workflow/db";
import type { Database, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { hashPassword } from "../auth/password.ts";
import { SCOPES } from "../domain/scopes.ts";
import { insertCompany, insertMembership, insertUser } from "../store/companies.ts";
import { hasUser } from "../store/users.ts";
import { apiKeyCreated, insertNewApiKey } from "../identity/create-api-key.ts";
import { emailInput, nameInput, passwordInput, readInput } from "../identity/inputs.ts";
import { recordAdminEvent } from "./record-admin-event.ts";

const input = z.object({ name: nameInput, email: emailInput, password: passwordInput });

/** The company's name, and e-mail address and password of its owner. */
export type CreateCompanyInput = z.input<typeof input>;

/** A new company, its owner and an API key with all scopes, which is shown here only. */
export interface CreatedCompany {
  companyId: string;
  userId: string;
  apiKey: string;
}

/** A company whose input is valid and whose owner's password is hashed. */
export interface PreparedCompany {
  name: string;
  email: string;
  passwordHash: string;
}

/**
 * Creates a company with an owner and an API key, or nothing.
 *
 * @throws AppError BAD_REQUEST for bad input, CONFLICT when the e-mail address is taken
 */
export async function createCompany(
  database: Database,
  request: CreateCompanyInput,
): Promise<CreatedCompany> {
  // Saves the hashing in the common case; the check that counts follows when the person is stored.
  const { email } = readInput(input, request);
  if (await hasUser(database, email)) throw emailIsTaken();
  const company = await prepareCompany(request);
  return database.transaction((transaction) => insertPreparedCompany(transaction, company));
}

/** The part without a database: hashing is slow on purpose and stays out of transactions. */
export async function prepareCompany(request: CreateCompanyInput): Promise<PreparedCompany> {
  const { name, email, password } = readInput(input, request);
  return { name, email, passwordHash: await hashPassword(password, email) };
}

/** The part with the database: several statements, which need a transaction. */
export async function insertPreparedCompany(
  transaction: Transaction,
  company: PreparedCompany,
): Promise<CreatedCompany> {
  const companyId = newUuid();
  const userId = newUuid();
  const { name, email, passwordHash } = company;
  await insertCompany(transaction, { id: companyId, name });
  const user = { id: userId, email, name: email, passwordHash };
  if (!(await insertUser(transaction, user))) throw emailIsTaken();
  await insertMembership(transaction, { companyId, userId, role: "owner" });
  const made = await insertNewApiKey(transaction, {
    companyId,
    name: "Default",
    scopes: [...SCOPES],
    createdBy: { id: userId, name: email },
  });
  await recordAdminEvent(
    transaction,
    {
      companyId,
      action: "company.created",
      resourceType: "company",
      resourceId: companyId,
      changes: { name: { from: null, to: name }, owner: { from: null, to: email } },
    },
    { companyId, ...apiKeyCreated(made) },
  );
  return { companyId, userId, apiKey: made.key };
}

/** An e-mail address alone never gives an account a company, see docs/identity.md. */
function emailIsTaken(): AppError {
  return new AppError(
    "CONFLICT",
    "A user with this e-mail address already exists. Make the company with another owner, then add this one with create-user.",
  );
}
