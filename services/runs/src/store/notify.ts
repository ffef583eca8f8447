import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

/**
 * Sends a notification to every process that listens. Inside a transaction it is sent with the commit.
 */
export async function notify(queryable: Queryable, channel: string, payload: string) {
  await queryable.query(sql.type(z.object({}))`select from pg_notify(${channel}, ${payload})`);
}
