import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { createApiKey, SCOPES } from "@workflow/service-gateway/admin";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { CallOptions } from "../support/api-client.ts";
import { callApi } from "../support/api-client.ts";
import { auditOf } from "../support/audit-log.ts";
import { bySession, signIn } from "../support/people.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const maker = z.strictObject({
  type: z.enum(["user", "api_key"]),
  id: z.uuid(),
  name: z.string().nullable(),
});
const listed = z.array(
  z.looseObject({
    id: z.uuid(),
    name: z.string(),
    createdBy: maker.extend({ origin: maker.optional() }).nullable(),
  }),
);
const made = z.looseObject({ id: z.uuid(), key: z.string() });
const UNKNOWN = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a63";

let system: WholeSystem;

beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

async function makeKey(options: CallOptions, name: string, scopes: readonly string[] = SCOPES) {
  const answer = await system.call("POST", "/auth/api-keys", {
    ...options,
    body: { name, scopes },
  });
  expect(answer).toMatchObject({ status: 201 });
  return made.parse(answer.data);
}

const list = async (query = "", options: CallOptions = {}) =>
  listed.parse((await system.call("GET", `/auth/api-keys${query}`, options)).data);

/** An admin with a key, a key that this key made, and one that that one made. */
async function makeChain() {
  const admin = await system.createPerson(system.acme, "admin");
  const session = bySession(system, await signIn(system, admin));
  return { admin, session, chain: await makeKeys(session) };
}

async function makeKeys(session: CallOptions) {
  const first = await makeKey(session, "first");
  const second = await makeKey({ key: first.key }, "second");
  const third = await makeKey({ key: second.key }, "third");
  return [first, second, third] as const;
}

const statusOf = async (key: string): Promise<number> =>
  (await system.call("GET", "/workflows", { key })).status;

describe("a list of keys", () => {
  it("says who made each, and who made the first of those that led to it", async () => {
    const { admin, chain } = await makeChain();
    const [first, second, third] = chain;
    const person = { type: "user", id: admin.id, name: admin.email };
    const keys = new Map((await list()).map((key) => [key.id, key.createdBy]));
    expect(keys.get(first.id)).toEqual(person);
    const byFirst = { type: "api_key", id: first.id, name: "first", origin: person };
    expect(keys.get(second.id)).toEqual(byFirst);
    expect(keys.get(third.id)).toEqual({ ...byFirst, id: second.id, name: "second" });
    const { id } = await createApiKey(system.database, {
      companyId: system.acme.id,
      name: "by the admin command",
      scopes: ["runs:read"],
    });
    expect((await list()).find((key) => key.id === id)?.createdBy).toBeNull();
  });

  it("still says it when the maker has left and is known nowhere any more", async () => {
    const { admin, chain } = await makeChain();
    const gone = await system.call("DELETE", `/members/${admin.id}`);
    expect(gone).toMatchObject({ status: 200, data: { deleted: true } });
    expect(gone.data).toEqual({ deleted: true });
    const key = (await list()).find(({ id }) => id === chain[0].id);
    expect(key?.createdBy).toEqual({ type: "user", id: admin.id, name: admin.email });
    expect(await statusOf(chain[0].key)).toBe(200);
  });

  it("can be asked for those of one maker, through however many keys", async () => {
    const { admin, chain } = await makeChain();
    const [first, second, third] = chain.map(({ id }) => id);
    const idsBy = async (id: string, options: CallOptions = {}) =>
      (await list(`?createdBy=${id}`, options)).map((key) => key.id);
    expect(await idsBy(admin.id.toUpperCase())).toEqual([third, second, first]);
    expect(await idsBy(first ?? "")).toEqual([third, second]);
    expect(await idsBy(UNKNOWN)).toEqual([]);
    // Another company learns nothing of them.
    expect(await idsBy(admin.id, { key: system.globex.key })).toEqual([]);
    const malformed = await system.call("GET", "/auth/api-keys?createdBy=x");
    expect(malformed).toMatchObject({ status: 400, error: { details: [{ path: ["createdBy"] }] } });
  });

  it.each(["/auth/api-keys", "/members"])("%s comes whole, or in pages", async (path) => {
    const { session } = await makeChain();
    // The owner, the maker of the keys and this one: two pages of each list.
    await system.createPerson(system.acme, "viewer");
    const whole = await system.call("GET", path, session);
    expect(whole.meta).toEqual({ cursor: null, hasMore: false });
    const rows = z.array(z.unknown()).parse(whole.data);
    expect(rows.length).toBeGreaterThan(2);
    const pages: unknown[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const query: string = cursor === "" ? "?limit=2" : `?limit=2&cursor=${cursor}`;
      const page = await system.call("GET", path + query, session);
      pages.push(...z.array(z.unknown()).max(2).parse(page.data));
      cursor = page.meta?.cursor ?? null;
      expect(page.meta?.hasMore).toBe(cursor !== null);
    }
    expect(stable(pages)).toEqual(stable(rows));
    const first = await system.call("GET", `${path}?limit=1`, session);
    const foreign = await system.call("GET", `${path}?cursor=${first.meta?.cursor}`, {
      key: system.globex.key,
    });
    expect(foreign).toMatchObject({ status: 400, error: { details: [{ path: ["cursor"] }] } });
    for (const query of ["limit=0", "limit=1001", "limit=x", "cursor=x"]) {
      expect(await system.call("GET", `${path}?${query}`, session)).toMatchObject({ status: 400 });
    }
  });

  it("ends at a thousand: then no more can be made", async () => {
    const { globex, database } = system;
    await database.query(sql.type(z.object({}))`
      insert into gateway.api_keys (id, company_id, name, key_hash, key_prefix, scopes)
      select
        gen_random_uuid(), ${globex.id}, 'filler',
        sha256(gen_random_uuid()::text::bytea), 'wfk_', '{runs:read}'
      from generate_series(1, 998)
    `);
    const body = { name: "one more", scopes: ["runs:read"] };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        system.call("POST", "/auth/api-keys", { key: globex.key, body }),
      ),
    );
    const statuses = answers.map(({ status }) => String(status));
    expect(statuses.toSorted()).toEqual(["201", "400", "400", "400", "400"]);
    expect(await list("", { key: globex.key })).toHaveLength(1_000);
    await database.query(sql.type(z.object({}))`
      delete from gateway.api_keys where company_id = ${globex.id} and name = 'filler'
    `);
  });
});

/** Without what is written in the background. */
function stable(rows: readonly unknown[]): unknown[] {
  return z
    .array(z.looseObject({}))
    .parse(rows)
    .map((row) => ({ ...row, lastUsedAt: null }));
}

describe("keys of somebody who leaves", () => {
  it("end in one call, everywhere, with an event for each", async () => {
    const { admin, chain } = await makeChain();
    const other = await system.startGateway();
    const there = (key: string) => callApi(`${other.origin}/api/v1/workflows`, "GET", { key });
    for (const { key } of chain) expect((await there(key)).status).toBe(200);
    const headers = { "x-request-id": "leaving" };
    const answer = await system.call("DELETE", `/auth/api-keys?createdBy=${admin.id}`, { headers });
    expect(answer).toMatchObject({ status: 200, data: { revoked: 3 } });
    for (const { key } of chain) {
      expect(await statusOf(key)).toBe(401);
      await waitFor(async () => (await there(key)).status === 401);
    }
    const events = await auditOf(system, "leaving");
    expect(events.map(({ action }) => action)).toEqual(Array(3).fill("api_key.revoked"));
    expect(events.map(({ resourceId }) => resourceId).toSorted()).toEqual(
      chain.map(({ id }) => id).toSorted(),
    );
    expect(await list(`?createdBy=${admin.id}`)).toEqual([]);
    const again = await system.call("DELETE", `/auth/api-keys?createdBy=${admin.id}`);
    expect(again).toMatchObject({ status: 200, data: { revoked: 0 } });
    await other.stop();
  });

  it("can end with the membership", async () => {
    const { admin, chain } = await makeChain();
    const gone = await system.call("DELETE", `/members/${admin.id}?revokeKeys=true`, {
      headers: { "x-request-id": "removed" },
    });
    expect(gone).toMatchObject({ status: 200, data: { deleted: true, revokedKeys: 3 } });
    for (const { key } of chain) expect(await statusOf(key)).toBe(401);
    const actions = (await auditOf(system, "removed")).map(({ action }) => action);
    expect(actions.toSorted()).toEqual([...Array(3).fill("api_key.revoked"), "member.removed"]);
    const bad = await system.call("DELETE", `/members/${admin.id}?revokeKeys=yes`);
    expect(bad).toMatchObject({ status: 400, error: { details: [{ path: ["revokeKeys"] }] } });
  });

  it("are not within reach of another company, nor of a key that lacks the scope", async () => {
    const { admin, chain } = await makeChain();
    const path = `/auth/api-keys?createdBy=${admin.id}`;
    const foreign = await system.call("DELETE", path, { key: system.globex.key });
    const unknown = await system.call("DELETE", `/auth/api-keys?createdBy=${UNKNOWN}`);
    expect(foreign).toMatchObject({ status: 200, data: { revoked: 0 } });
    expect(unknown).toMatchObject({ status: 200, data: { revoked: 0 } });
    const key = await system.createKey(system.acme, ["api_keys:read"]);
    expect(await system.call("DELETE", path, { key })).toMatchObject({ status: 403 });
    expect(await system.call("DELETE", path, { key: null })).toMatchObject({ status: 401 });
    for (const query of ["", "?createdBy=", "?createdBy=x"]) {
      expect(await system.call("DELETE", `/auth/api-keys${query}`)).toMatchObject({
        status: 400,
        error: { details: [{ path: ["createdBy"] }] },
      });
    }
    expect(await statusOf(chain[2].key)).toBe(200);
  });

  it("leave none behind that one of them makes at the same time", async () => {
    const { admin, session, chain: firstChain } = await makeChain();
    let chain = firstChain;
    for (let round = 0; round < 4; round += 1) {
      const body = { name: "late", scopes: ["workflows:read"] };
      const [revoked, ...late] = await Promise.all([
        system.call("DELETE", `/auth/api-keys?createdBy=${admin.id}`),
        ...chain.map(({ key }) => system.call("POST", "/auth/api-keys", { key, body })),
      ]);
      expect(revoked).toMatchObject({ status: 200 });
      for (const answer of late) expect([201, 401]).toContain(answer.status);
      expect(await list(`?createdBy=${admin.id}`)).toEqual([]);
      chain = await makeKeys(session);
    }
  });
});
