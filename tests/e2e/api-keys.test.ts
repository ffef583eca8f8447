import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { CallOptions } from "../support/api-client.ts";
import { callApi } from "../support/api-client.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const listedSchema = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  keyPrefix: z.string(),
  scopes: z.array(z.string()),
  createdAt: timestamp,
  expiresAt: timestamp.nullable(),
  lastUsedAt: timestamp.nullable(),
  createdBy: z.looseObject({ type: z.enum(["user", "api_key"]), id: z.uuid() }).nullable(),
});
const createdSchema = listedSchema
  .omit({ createdBy: true })
  .extend({ key: z.string().regex(/^wfk_[A-Za-z0-9]{32}$/) });

let system: WholeSystem;

beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

async function create(body: object, options: CallOptions = {}) {
  const answer = await system.call("POST", "/auth/api-keys", { ...options, body });
  expect(answer).toMatchObject({ status: 201 });
  return createdSchema.parse(answer.data);
}

async function list(key?: string) {
  const { data } = await system.call("GET", "/auth/api-keys", key === undefined ? {} : { key });
  return z.array(listedSchema).parse(data);
}

describe("an API key", () => {
  it("is shown once, with all its fields, and works at once", async () => {
    const expiresAt = "2099-01-02T03:04:05.000Z";
    const { key, ...shown } = await create({ name: "CI", scopes: ["workflows:read"], expiresAt });
    expect(shown).toMatchObject({
      name: "CI",
      scopes: ["workflows:read"],
      expiresAt,
      lastUsedAt: null,
      keyPrefix: key.slice(0, shown.keyPrefix.length),
    });
    expect(key.length - shown.keyPrefix.length).toBeGreaterThanOrEqual(24);
    expect((await system.call("GET", "/workflows", { key })).status).toBe(200);
    expect((await system.call("GET", "/runs", { key })).status).toBe(403);
    const listed = (await list()).find(({ id }) => id === shown.id);
    const { createdBy, ...fields } = listed ?? {};
    expect(createdBy).toMatchObject({ type: "api_key" });
    expect({ ...fields, lastUsedAt: null }).toEqual(shown);
  });

  it("is listed without itself, newest first, among those of its company only", async () => {
    const first = await create({ name: "first", scopes: ["runs:read"] });
    const second = await create({ name: "second", scopes: ["runs:read"] });
    const { text } = await system.call("GET", "/auth/api-keys");
    expect(text).not.toContain(first.key);
    expect(text).not.toContain('"key"');
    expect(text).not.toMatch(/hash/i);
    const ids = (await list()).map(({ id }) => id);
    expect(ids.indexOf(second.id)).toBeLessThan(ids.indexOf(first.id));
    const theirs = (await list(system.globex.key)).map(({ id }) => id);
    expect(theirs).not.toContain(first.id);
  });

  it("is stored as its hash alone", async () => {
    const { id, key } = await create({ name: "stored", scopes: ["runs:read"] });
    const { row } = await system.database.one(sql.type(z.object({ row: z.string() }))`
      select k::text as row from gateway.api_keys k where id = ${id}
    `);
    expect(row).not.toContain(key.slice(12));
  });

  it("has its last use recorded, without being asked for it each time", async () => {
    const { id, key } = await create({ name: "used", scopes: ["workflows:read"] });
    await system.call("GET", "/workflows", { key });
    await waitFor(async () => (await list()).some((each) => each.id === id && each.lastUsedAt));
  });

  it.each([
    ["no name", { scopes: ["runs:read"] }, "name"],
    ["an empty name", { name: " ", scopes: ["runs:read"] }, "name"],
    ["a long name", { name: "n".repeat(256), scopes: ["runs:read"] }, "name"],
    ["no scopes", { name: "n" }, "scopes"],
    ["an empty list of scopes", { name: "n", scopes: [] }, "scopes"],
    ["scopes as a text", { name: "n", scopes: "runs:read" }, "scopes"],
    ["an unknown scope", { name: "n", scopes: ["runs:read", "runs:write"] }, "scopes.1"],
    [
      "a past expiry",
      { name: "n", scopes: ["runs:read"], expiresAt: "2020-01-01T00:00:00Z" },
      "expiresAt",
    ],
    ["no time as expiry", { name: "n", scopes: ["runs:read"], expiresAt: "soon" }, "expiresAt"],
  ])("is refused with %s", async (_what, body, path) => {
    const answer = await system.call("POST", "/auth/api-keys", { body });
    expect(answer).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: [{ path: path.split(".") }] },
    });
  });

  it("names a scope once however often it was asked for", async () => {
    const { scopes } = await create({ name: "twice", scopes: ["runs:read", "runs:read"] });
    expect(scopes).toEqual(["runs:read"]);
  });

  it("cannot be given scopes that its maker lacks", async () => {
    const key = await system.createKey(system.acme, ["api_keys:write", "runs:read"]);
    const wanted = ["runs:read", "secrets:write", "audit:read"];
    const body = { name: "more", scopes: wanted };
    const answer = await system.call("POST", "/auth/api-keys", { key, body });
    expect(answer).toMatchObject({ status: 403, error: { code: "FORBIDDEN" } });
    expect(answer.error?.message).toContain("secrets:write, audit:read");
    await create({ name: "less", scopes: ["runs:read"] }, { key });
  });

  it("does not take id, company or key from a body", async () => {
    const body = {
      name: "mine",
      scopes: ["runs:read"],
      id: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a",
      companyId: system.globex.id,
      key: `wfk_${"a".repeat(32)}`,
    };
    const made = await create(body);
    expect(made.id).not.toBe(body.id);
    expect(made.key).not.toBe(body.key);
    expect((await list()).map(({ id }) => id)).toContain(made.id);
  });
});

describe("a revoked key", () => {
  it("is refused by this gateway at once and by every other soon, though it was just used", async () => {
    const other = await system.startGateway();
    const { id, key } = await create({ name: "revoked", scopes: ["workflows:read"] });
    const there = () => callApi(`${other.origin}/api/v1/workflows`, "GET", { key });
    expect((await system.call("GET", "/workflows", { key })).status).toBe(200);
    expect((await there()).status).toBe(200);
    const revoked = await system.call("DELETE", `/auth/api-keys/${id}`);
    expect(revoked).toMatchObject({ status: 200, data: { deleted: true } });
    const here = await system.call("GET", "/workflows", { key });
    expect(here).toMatchObject({ status: 401, error: { code: "UNAUTHORIZED" } });
    await waitFor(async () => (await there()).status === 401);
    await other.stop();
  });

  it("is gone from the list, and revoking it again is 404", async () => {
    const { id } = await create({ name: "twice revoked", scopes: ["runs:read"] });
    await system.call("DELETE", `/auth/api-keys/${id}`);
    expect((await list()).map((each) => each.id)).not.toContain(id);
    const again = await system.call("DELETE", `/auth/api-keys/${id}`);
    expect(again).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
  });

  it("may have revoked itself", async () => {
    const scopes = ["api_keys:read", "api_keys:write"];
    const { id, key } = await create({ name: "own", scopes });
    expect((await system.call("DELETE", `/auth/api-keys/${id}`, { key })).status).toBe(200);
    expect((await system.call("GET", "/auth/api-keys", { key })).status).toBe(401);
  });

  it("is revoked once by callers who come together", async () => {
    const { id } = await create({ name: "race", scopes: ["runs:read"] });
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => system.call("DELETE", `/auth/api-keys/${id}`)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 404)).toHaveLength(7);
  });
});

describe("an expired key", () => {
  it("is refused and still listed", async () => {
    const expiresAt = new Date(Date.now() + 1_000);
    const body = { name: "short", scopes: ["workflows:read"], expiresAt: expiresAt.toISOString() };
    const { id, key } = await create(body);
    expect((await system.call("GET", "/workflows", { key })).status).toBe(200);
    await waitFor(async () => (await system.call("GET", "/workflows", { key })).status === 401);
    expect((await list()).map((each) => each.id)).toContain(id);
  });
});
