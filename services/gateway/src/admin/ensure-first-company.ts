import { randomBytes } from "node:crypto";
import type { Database } from "@workflow/db";
import { hasCompany, lockWhetherEmpty } from "../store/companies.ts";
import { insertPreparedCompany, prepareCompany } from "./create-company.ts";
import type { CreatedCompany } from "./create-company.ts";

const NAME = "Demo";
const EMAIL = "owner@example.com";
const PASSWORD_BYTES = 18;

/** The first company of a new installation, with everything that is shown once (D11). */
export interface FirstCompany extends CreatedCompany {
  name: string;
  email: string;
  password: string;
}

/**
 * Makes the company "Demo" in a database that has none. Returns null when there was one already;
 * of several that start at once exactly one makes it.
 */
export async function ensureFirstCompany(database: Database): Promise<FirstCompany | null> {
  // Spares every later start the hashing; what counts is asked again under the lock.
  if (await hasCompany(database)) return null;
  const password = randomBytes(PASSWORD_BYTES).toString("base64url");
  const company = await prepareCompany({ name: NAME, email: EMAIL, password });
  return database.transaction(async (transaction) => {
    if (!(await lockWhetherEmpty(transaction))) return null;
    const created = await insertPreparedCompany(transaction, company);
    return { ...created, name: NAME, email: EMAIL, password };
  });
}
