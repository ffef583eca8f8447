import { newUuid } from "@workflow/db";
import type { Database, Queryable } from "@workflow/db";
import { z } from "zod";
import { hashPassword } from "../auth/password.ts";
import { SCOPES } from "../auth/scopes.ts";
import { insertCompany, insertMembership, insertUser } from "../store/companies.ts";
import { createApiKey } from "./create-api-key.ts";
import { emailInput, nameInput, passwordInput, readInput } from "./inputs.ts";

const input = z.object({ name: nameInput, email: emailInput, password: passwordInput });

/** The company's name, and e-mail address and password of its owner. */
export type CreateCompanyInput = z.input<typeof input>;

/** A new company, its owner and an API key with all scopes, which is shown here only. */
export interface CreatedCompany {
  companyId: string;
  userId: string;
  apiKey: string;
}

/** A company whose input was checked and whose password was hashed. */
export interface PreparedCompany {
  name: string;
  email: string;
  passwordHash: string;
}

/**
 * Makes a company with an owner and an API key: all or nothing.
 *
 * @throws AppError BAD_REQUEST for bad input, CONFLICT when the e-mail address is taken
 */
export async function createCompany(
  database: Database,
  request: CreateCompanyInput,
): Promise<CreatedCompany> {
  const company = await prepareCompany(request);
  return database.transaction((transaction) => insertPreparedCompany(transaction, company));
}

/** The part that needs no database; hashing is slow on purpose and stays out of transactions. */
export async function prepareCompany(request: CreateCompanyInput): Promise<PreparedCompany> {
  const { name, email, password } = readInput(input, request);
  return { name, email, passwordHash: await hashPassword(password) };
}

/** The part that needs the database; several statements, so a transaction is expected. */
export async function insertPreparedCompany(
  transaction: Queryable,
  company: PreparedCompany,
): Promise<CreatedCompany> {
  const companyId = newUuid();
  const userId = newUuid();
  const { name, email, passwordHash } = company;
  await insertCompany(transaction, { id: companyId, name });
  await insertUser(transaction, { id: userId, email, name: email, passwordHash });
  await insertMembership(transaction, { companyId, userId, role: "owner" });
  const { key } = await createApiKey(transaction, {
    companyId,
    name: "Default",
    scopes: [...SCOPES],
    createdBy: userId,
  });
  return { companyId, userId, apiKey: key };
}
