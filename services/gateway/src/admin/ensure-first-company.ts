import { randomBytes } from "node:crypto";
import type { Database } from "@workflow/db";
import { hasCompany, lockWhetherEmpty } from "../store/companies.ts";
import { insertPreparedCompany, prepareCompany } from "./create-company.ts";
import type { CreatedCompany } from "./create-company.ts";

const NAME = "Demo";
const EMAIL = "owner@example.com";
const PASSWORD_BYTES = 18;

/** The first company of a new installation, with the secrets that are shown once (D11). */
export interface FirstCompany extends CreatedCompany {
  name: string;
  email: string;
  password: string;
}

/**
 * Creates the company "Demo" in a database that has none. Of several processes that start at once
 * exactly one creates it. Returns null when a company existed.
 */
export async function ensureFirstCompany(database: Database): Promise<FirstCompany | null> {
  // Saves later starts the hashing; the check that counts follows under the lock.
  if (await hasCompany(database)) return null;
  const password = randomBytes(PASSWORD_BYTES).toString("base64url");
  const company = await prepareCompany({ name: NAME, email: EMAIL, password });
  return database.transaction(async (transaction) => {
    if (!(await lockWhetherEmpty(transaction))) return null;
    const created = await insertPreparedCompany(transaction, company);
    return { ...created, name: NAME, email: EMAIL, password };
  });
}
