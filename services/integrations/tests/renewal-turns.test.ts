import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import { z } from "zod";
import { listEndingConnections } from "../src/store/connection-renewals.ts";

const TURN = { aheadMs: 900_000, restMs: 60_000, limit: 4, perCompany: 2 };

const scope = createScope();
let database: Database;
beforeAll(async () => {
  const testDatabase = await createTestDatabase();
  scope.defer(() => testDatabase.close());
  const { connectionUri } = testDatabase;
  database = await openDatabase({ connectionUri, applicationName: "test" });
  scope.defer(() => database.end());
});
afterAll(() => scope.close());

/** A connection whose token, given so many minutes ago, ended then. */
async function insert(companyId: string, id: string, endedMinutesAgo: number, givenAgo = 600) {
  await database.query(sql.type(z.object({}))`
    insert into integrations.connections (
      id, company_id, name, provider, status, credentials_changed_at, credentials_expire_at
    )
    values (
      ${id}, ${companyId}, 'Mail', 'google-mail', 'active',
      now() - ${givenAgo} * interval '1 minute', now() - ${endedMinutesAgo} * interval '1 minute'
    )
  `);
}

it("each company's first comes before anybody's second, and what was just given rests", async () => {
  const [large, small, third] = [newUuid(), newUuid(), newUuid()];
  for (let n = 1; n <= 5; n += 1) await insert(large, `conn_large_${n}`, 100 - n);
  for (let n = 1; n <= 2; n += 1) await insert(small, `conn_small_${n}`, 50 - n);
  await insert(third, "conn_third", 1);
  await insert(newUuid(), "conn_rests", 0, 0);
  const listed = await listEndingConnections(database, TURN);
  expect(listed.map(({ connectionId }) => connectionId)).toEqual([
    "conn_large_1",
    "conn_small_1",
    "conn_third",
    "conn_large_2",
  ]);
});
