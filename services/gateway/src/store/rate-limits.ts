import { sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { z } from "zod";
import type { OwnLimits } from "../domain/bucket.ts";

const perMinute = z.number().nullable();
const nothing = z.object({});

/** The limits that an operator has set for a company, as part of a larger row. */
export const ownLimitsRow = z.object({ read: perMinute, write: perMinute, execute: perMinute });

/** The columns of these limits; the companies table has the alias `c`. */
export const ownLimitsColumns = sql.fragment`
  c.rate_limit_read as "read",
  c.rate_limit_write as "write",
  c.rate_limit_execute as "execute"
`;

/** The limits of a company, locked until the transaction ends; null without such a company. */
export function lockOwnLimits(
  transaction: Transaction,
  companyId: string,
): Promise<OwnLimits | null> {
  return transaction.maybeOne(sql.type(ownLimitsRow)`
    select ${ownLimitsColumns}
    from gateway.companies c
    where c.id = ${companyId}
    for update
  `);
}

/** Sets the limits of a company; null means the setting's value. */
export async function updateOwnLimits(
  database: Queryable,
  companyId: string,
  { read, write, execute }: OwnLimits,
): Promise<void> {
  await database.query(sql.type(nothing)`
    update gateway.companies
    set rate_limit_read = ${read}, rate_limit_write = ${write}, rate_limit_execute = ${execute}
    where id = ${companyId}
  `);
}
