import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { newUuid, openDatabase } from "@workflow/db";
import { createTestDatabase } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import { ensureCompanyKey, openKeyRing, openText, rotateKek, sealText } from "../src/index.ts";
import type { KekSource, SealedSchema, SealingSchema } from "../src/index.ts";

let testDatabase: TestDatabase;
/** Each as its own role, which no other schema is open to. */
const schemas: SealedSchema[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  for (const schema of ["integrations", "webhooks"] as const) {
    const database = await openDatabase({
      connectionUri: testDatabase.connectionUri,
      role: `workflow_${schema}`,
      applicationName: "test-sealing",
      maxConnections: 2,
    });
    schemas.push({ database, schema });
  }
});
afterAll(async () => {
  for (const { database } of schemas) await database.end();
  await testDatabase.close();
});

it("covers every schema, and gives the old key up only when none needs it any more", async () => {
  const [old, next, strange] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const companyId = newUuid();
  const sealed = new Map<SealingSchema, Buffer>();
  for (const { database, schema } of schemas) {
    // The second schema is under a key that the first rotation is not given.
    const kek = schema === "webhooks" ? strange : old;
    const ring = await openKeyRing(database, schema, () => Promise.resolve([kek]));
    const { key } = await ensureCompanyKey(database, ring, companyId);
    sealed.set(schema, sealText(key, schema, ["test", companyId]));
  }
  const ended: Buffer[] = [];
  const source = (...keks: Buffer[]): KekSource => ({
    begin: () => Promise.resolve(keks),
    end: (kek) => {
      ended.push(kek);
      return Promise.resolve();
    },
  });
  await expect(rotateKek(schemas, source(next, old))).rejects.toThrow("SECRETS_KEK");
  expect(ended).toEqual([]);
  const rotation = await rotateKek(schemas, source(next, old, strange));
  expect(rotation).toMatchObject({ rewrapped: 2, companyKeys: 2 });
  expect(rotation.retired).toHaveLength(2);
  expect(ended).toEqual([next]);

  for (const { database, schema } of schemas) {
    const ring = await openKeyRing(database, schema, () => Promise.resolve([next]));
    const { key } = await ensureCompanyKey(database, ring, companyId);
    const bytes = sealed.get(schema) ?? Buffer.alloc(0);
    expect(openText(key, bytes, ["test", companyId], "a text")).toBe(schema);
    expect(() => openText(key, bytes, ["test", newUuid()], "a text")).toThrow(
      "An internal error occurred.",
    );
  }
});
