import { sql } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { z } from "zod";

const roleRow = z.object({ role: z.string() });

/** Continues a transaction in the role of a service, which alone may write the service's tables. */
export async function actAs(transaction: Transaction, service: string): Promise<void> {
  await transaction.one(sql.type(roleRow)`
    select set_config('role', ${`workflow_${service}`}, true) as role
  `);
}
