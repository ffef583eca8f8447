import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { formatChange, IDENTITY_CHANNEL } from "../domain/identity-change.ts";
import type { IdentityChange } from "../domain/identity-change.ts";

/** Notifies all gateways of a change of access; inside a transaction, at its commit. */
export async function notifyIdentityChange(
  database: Queryable,
  change: IdentityChange,
): Promise<void> {
  const payload = formatChange(change);
  await database.query(sql.type(z.object({}))`
    select from pg_notify(${IDENTITY_CHANNEL}, ${payload})
  `);
}
