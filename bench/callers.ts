import { newUuid } from "@workflow/db";
import { Client } from "pg";
import { generateApiKey, hashApiKey } from "../services/gateway/src/auth/api-key-format.ts";
import type { LoadRequest } from "./load-protocol.ts";
import type { System } from "./system.ts";

/** Makes API keys of the bench's company by SQL: the API would take minutes. */
export async function makeCallers(system: System, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, generateApiKey);
  const client = new Client({ connectionString: system.databaseUrl });
  await client.connect();
  try {
    await client.query(
      `insert into gateway.api_keys (id, company_id, name, key_hash, key_prefix, scopes)
       select id, $1, 'caller', key_hash, key_prefix, $2
       from unnest($3::uuid[], $4::bytea[], $5::text[]) as caller (id, key_hash, key_prefix)`,
      [
        system.companyId,
        ["workflows:read", "workflows:write", "workflows:execute", "runs:read"],
        keys.map(() => newUuid()),
        keys.map((key) => hashApiKey(key)),
        keys.map((key) => key.slice(0, 12)),
      ],
    );
  } finally {
    await client.end();
  }
  return keys;
}

/** A request of each caller; several requests take turns. */
export function requestOfEach(
  keys: readonly string[],
  requests: readonly LoadRequest[],
): LoadRequest[] {
  return keys.flatMap((key, index) => {
    const request = requests[index % requests.length];
    if (request === undefined) return [];
    return { ...request, headers: { ...request.headers, "x-api-key": key } };
  });
}
