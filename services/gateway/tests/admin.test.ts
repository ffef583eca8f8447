import { scryptSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { createTestDatabase } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";
import { z } from "zod";
import {
  createApiKey,
  createCompany,
  createUser,
  ensureFirstCompany,
  SCOPES,
} from "../src/admin/index.ts";
import { hashApiKey } from "../src/auth/api-key-format.ts";

const UNKNOWN_ID = "0197b2a0-0000-7000-8000-00000000ffff";

describe("admin operations", () => {
  let testDatabase: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = await openDatabase({
      connectionUri: testDatabase.connectionUri,
      role: "workflow_gateway",
      maxConnections: 4,
      applicationName: "admin-test",
    });
    // Comes first, as the other tests make companies too.
    firstCompanies = await Promise.all(
      Array.from({ length: 6 }, () => ensureFirstCompany(database)),
    );
  });
  afterAll(async () => {
    await database.end();
    await testDatabase.close();
  });

  let firstCompanies: Awaited<ReturnType<typeof ensureFirstCompany>>[];
  let companyCount = 0;

  function newCompany() {
    companyCount += 1;
    return createCompany(database, {
      name: "Acme",
      email: `Owner${companyCount}@Acme.example`,
      password: "correct horse",
    });
  }

  async function reasonOf(operation: Promise<unknown>): Promise<string> {
    const outcome = await operation.then(
      () => "done",
      (error: unknown) => error,
    );
    return outcome instanceof AppError ? outcome.reason : String(outcome);
  }

  it("make the first company exactly once when several processes start at once", async () => {
    const made = firstCompanies.filter((company) => company !== null);
    expect(made).toEqual([
      {
        companyId: expect.any(String),
        userId: expect.any(String),
        apiKey: expect.stringMatching(/^wfk_[A-Za-z0-9]{32}$/),
        name: "Demo",
        email: expect.stringContaining("@"),
        password: expect.stringMatching(/^.{20,}$/),
      },
    ]);
    await expect(ensureFirstCompany(database)).resolves.toBeNull();
  });

  it("make a company with an owner, and a key with all scopes that is stored only as a hash", async () => {
    const { companyId, userId, apiKey } = await newCompany();
    const row = await database.one(sql.type(
      z.object({
        name: z.string(),
        email: z.string(),
        role: z.string(),
        scopes: z.array(z.string()),
        keyHash: z.instanceof(Uint8Array),
        all: z.string(),
      }),
    )`
      select c.name, u.email, m.role, k.scopes, k.key_hash as "keyHash", k::text as "all"
      from gateway.companies c
      join gateway.memberships m on m.company_id = c.id
      join gateway.users u on u.id = m.user_id
      join gateway.api_keys k on k.company_id = c.id
      where c.id = ${companyId} and u.id = ${userId}
    `);
    expect(row).toMatchObject({
      name: "Acme",
      email: `owner${companyCount}@acme.example`,
      role: "owner",
      scopes: [...SCOPES],
    });
    expect(Buffer.from(row.keyHash)).toEqual(hashApiKey(apiKey));
    expect(row.all).not.toContain(apiKey);
  });

  it("store passwords as scrypt with the parameters beside", async () => {
    const { userId } = await newCompany();
    const { hash } = await database.one(sql.type(z.object({ hash: z.string() }))`
      select password_hash as "hash" from gateway.users where id = ${userId}
    `);
    const [, scheme, parameters = "", salt = "", expected = ""] = hash.split("$");
    expect([scheme, parameters]).toEqual(["scrypt", "ln=15,r=8,p=3"]);
    const derived = scryptSync("correct horse", Buffer.from(salt, "base64"), 32, {
      N: 2 ** 15,
      r: 8,
      p: 3,
      maxmem: 64 * 1024 * 1024,
    });
    expect(derived).toEqual(Buffer.from(expected, "base64"));
  });

  it("leave nothing of a company behind when its owner's address is taken, in whatever case", async () => {
    await newCompany();
    const count = sql.type(z.object({ count: z.number() }))`
      select count(*) as count from gateway.companies
    `;
    const before = await database.one(count);
    const repeated = createCompany(database, {
      name: "Again",
      email: `OWNER${companyCount}@ACME.EXAMPLE`,
      password: "correct horse",
    });
    expect(await reasonOf(repeated)).toBe("CONFLICT");
    expect(await database.one(count)).toEqual(before);
  });

  it("make users with a role, in companies that exist", async () => {
    const { companyId } = await newCompany();
    const user = { companyId, email: "m@acme.example", password: "correct horse", role: "member" };
    const { userId } = await createUser(database, { ...user, role: "member" });
    expect(userId).toEqual(expect.any(String));
    expect(await reasonOf(createUser(database, { ...user, role: "member" }))).toBe("CONFLICT");
    const elsewhere = createUser(database, {
      ...user,
      email: "n@acme.example",
      companyId: UNKNOWN_ID,
      role: "viewer",
    });
    expect(await reasonOf(elsewhere)).toBe("NOT_FOUND");
  });

  it("refuse bad input, naming all of it", async () => {
    const outcome = createCompany(database, { name: " ", email: "nobody", password: "short" });
    await expect(outcome).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["name"] }, { path: ["email"] }, { path: ["password"] }],
    });
    expect(await reasonOf(createApiKey(database, { companyId: "x", name: "k", scopes: [] }))).toBe(
      "BAD_REQUEST",
    );
    const unknownCompany = createApiKey(database, {
      companyId: UNKNOWN_ID,
      name: "k",
      scopes: ["runs:read"],
    });
    expect(await reasonOf(unknownCompany)).toBe("NOT_FOUND");
  });

  it("make keys of 32 letters and digits, each as likely as the others", async () => {
    const { companyId } = await newCompany();
    const keys = await Promise.all(
      Array.from({ length: 50 }, () =>
        createApiKey(database, { companyId, name: "k", scopes: ["runs:read", "runs:read"] }),
      ),
    );
    expect(new Set(keys.map(({ key }) => key)).size).toBe(50);
    expect(keys.every(({ key }) => /^wfk_[A-Za-z0-9]{32}$/.test(key))).toBe(true);
    expect(new Set(keys.flatMap(({ key }) => key.slice(4).split(""))).size).toBe(62);
  });
});
