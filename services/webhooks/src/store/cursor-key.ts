import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const cursorKeyRow = z.object({ keyHex: z.string() });

/** The key that signs list cursors, the same for all replicas (D6). */
export async function getCursorKey(database: Queryable): Promise<Buffer> {
  const { keyHex } = await database.one(sql.type(cursorKeyRow)`
    select encode(key, 'hex') as "keyHex" from webhooks.cursor_key
  `);
  return Buffer.from(keyHex, "hex");
}
