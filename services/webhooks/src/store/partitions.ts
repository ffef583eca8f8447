import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";

const nothing = z.object({});

/** Makes the partitions of the weeks to come, so that nobody finds none for a new event. */
export async function makePartitions(queryable: Queryable): Promise<void> {
  await queryable.query(sql.type(nothing)`
    select webhooks.make_partitions(now() + interval '6 weeks')
  `);
}
