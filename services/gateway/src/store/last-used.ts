import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});

/** The time when a key or a session was used. */
export interface StoredUse {
  id: string;
  usedAt: Date;
}

/** Stores when API keys were last used; a time before the stored one is ignored. */
export async function updateKeysLastUsed(
  database: Queryable,
  uses: readonly StoredUse[],
): Promise<void> {
  await database.query(sql.type(nothing)`
    update gateway.api_keys as k
    set last_used_at = u.used_at
    from ${unnestUses(uses)} as u (id, used_at)
    where k.id = u.id and (k.last_used_at is null or k.last_used_at < u.used_at)
  `);
}

/** Stores when sessions were last used; a time before the stored one is ignored. */
export async function updateSessionsLastUsed(
  database: Queryable,
  uses: readonly StoredUse[],
): Promise<void> {
  await database.query(sql.type(nothing)`
    update gateway.sessions as s
    set last_used_at = u.used_at
    from ${unnestUses(uses)} as u (id, used_at)
    where s.id = u.id and s.last_used_at < u.used_at
  `);
}

function unnestUses(uses: readonly StoredUse[]) {
  const ids = uses.map((use) => use.id);
  const times = uses.map((use) => use.usedAt.toISOString());
  return sql.fragment`unnest(${sql.array(ids, "uuid")}, ${sql.array(times, "timestamptz")})`;
}
