import { hexBytes, sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import type { ConnectionKey } from "../domain/connection-key.ts";
import { connectionColumns, connectionRow } from "./connections.ts";

const sealedConnectionRow = connectionRow.extend({
  /** Null without credentials. */
  sealedCredentials: hexBytes.nullable(),
  companyKeyId: z.string().nullable(),
  kekId: z.string().nullable(),
  wrappedKey: hexBytes.nullable(),
});

/** A connection with its encrypted credentials, and the wrapped key that decrypts them. */
export type SealedConnectionRow = z.output<typeof sealedConnectionRow>;

/** The connection with its encrypted credentials; null when the company has none of this id. */
export async function findSealedConnection(
  database: Queryable,
  { companyId, connectionId }: ConnectionKey,
): Promise<SealedConnectionRow | null> {
  return database.maybeOne(sql.prepared("connection_find_sealed", sealedConnectionRow)`
    select
      ${connectionColumns},
      encode(connection.sealed_credentials, 'hex') as "sealedCredentials",
      company_key.id as "companyKeyId",
      company_key.kek_id as "kekId",
      encode(company_key.wrapped_key, 'hex') as "wrappedKey"
    from integrations.connections as connection
    left join integrations.company_keys as company_key
      on company_key.id = connection.company_key_id
    where connection.company_id = ${companyId} and connection.id = ${connectionId}
  `);
}
