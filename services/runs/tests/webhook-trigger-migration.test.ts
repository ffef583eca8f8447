import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { migrate, newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { triggerSchema } from "@workflow/definition";
import { createTestDatabase } from "@workflow/testkit";
import { z } from "zod";
import { triggerKeyOf } from "../src/domain/trigger-key.ts";

const MIGRATIONS = join(import.meta.dirname, "../migrations");
const FIRST_AFTER = "0018";
const nothing = z.object({});
const keyRow = z.object({ trigger: z.string(), key: z.string().nullable() });

const TRIGGERS = [
  { type: "api" },
  { type: "webhook", path: "New.Order_created-NOW" },
  { type: "webhook", path: "/new-order" },
  { type: "webhook", path: "İSTANBUL ΣΑΣ Straße ǅ K" },
  { type: "webhook", path: "a/b", provider: "CUSTOM" },
  { type: "webhook", path: "/a", provider: "custom" },
  { type: "webhook", path: "/any", provider: "HubSpot" },
  { type: "webhook", path: "any.path", provider: "my.Provider_x" },
];

const scope = createScope();
let database: Database;

beforeAll(async () => {
  const testDatabase = await createTestDatabase();
  scope.defer(() => testDatabase.close());
  const { connectionUri } = testDatabase;
  database = await openDatabase({ connectionUri, applicationName: "test" });
  scope.defer(() => database.end());
  const before = await mkdtemp(join(tmpdir(), "migrations-"));
  scope.defer(() => rm(before, { recursive: true }));
  for (const file of await readdir(MIGRATIONS)) {
    if (file < FIRST_AFTER) await cp(join(MIGRATIONS, file), join(before, file));
  }
  const migrateFrom = (directory: string) =>
    migrate({ connectionUri, services: [{ schema: "runs", role: "workflow_runs", directory }] });
  await database.query(sql.type(nothing)`drop schema runs cascade`);
  await migrateFrom(before);
  for (const trigger of TRIGGERS) await storeHead(JSON.stringify(trigger));
  await migrateFrom(MIGRATIONS);
});
afterAll(() => scope.close());

/** Stores an active workflow, as the version before does: nothing receives webhooks yet. */
async function storeHead(trigger: string): Promise<void> {
  const [companyId, workflowId, deploymentId] = [newUuid(), newUuid(), newUuid()];
  await database.query(sql.type(nothing)`
    with stored as (
      insert into runs.deployments (
        id, company_id, workflow_id, revision, version, name, trigger, steps
      )
      values (${deploymentId}, ${companyId}, ${workflowId}, 1, 1, 'Orders', ${trigger}, '[]')
    )
    insert into runs.deployment_heads (workflow_id, company_id, revision, status, deployment_id)
    values (${workflowId}, ${companyId}, 1, 'active', ${deploymentId})
  `);
}

it("workflows that were deployed before get the keys that they would get now", async () => {
  const heads = await database.any(sql.type(keyRow)`
    select deployment.trigger::text as trigger, head.trigger_key as key
    from runs.deployment_heads as head
    join runs.deployments as deployment on deployment.id = head.deployment_id
  `);
  const keys = new Map(heads.map(({ trigger, key }) => [trigger, key]));
  const expected = TRIGGERS.map((trigger) => triggerKeyOf(triggerSchema.parse(trigger)));
  expect(TRIGGERS.map((trigger) => keys.get(JSON.stringify(trigger)))).toEqual(expected);
  expect(expected.filter((key) => key !== null)).toHaveLength(5);
});
