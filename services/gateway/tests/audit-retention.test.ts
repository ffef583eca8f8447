import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import type { Database, SqlFragment } from "@workflow/db";
import pino from "pino";
import { z } from "zod";
import { createApiKey, verifyAudit } from "../src/admin/index.ts";
import { trimAudit } from "../src/audit/audit-retention.ts";
import { toAuditRecord } from "../src/audit/audit-record.ts";
import { appendAudit } from "../src/audit/record-audit.ts";
import { auditEvent } from "./support/audit-events.ts";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const nothing = z.object({});
const page = z.object({
  data: z.array(z.object({ resourceId: z.string() })),
  meta: z.object({ cursor: z.string().nullable(), hasMore: z.boolean() }),
});

let gateway: TestGateway;
/** As the owner of the tables, who may do everything. */
let owner: Database;

beforeAll(async () => {
  gateway = await startTestGateway();
  owner = await openDatabase({ connectionUri: gateway.databaseUri, applicationName: "test" });
});
afterAll(async () => {
  await owner.end();
  await gateway.close();
});

/** Appends changes of a company, one for each age in days. */
async function append(companyId: string, agesDays: readonly number[]): Promise<void> {
  const records = agesDays.map((age) => {
    const event = z.json().parse(JSON.parse(auditEvent(companyId, { resourceId: `${age}` }).body));
    const { id, type, data } = z
      .object({ id: z.string(), type: z.string(), data: z.unknown() })
      .parse(event);
    const timestamp = new Date(Date.now() - age * DAY_MS);
    return toAuditRecord({ id, type, companyId, timestamp, data });
  });
  await gateway.database.transaction((transaction) => appendAudit(transaction, records));
}

let made = 0;
async function makeChain(agesDays: readonly number[]): Promise<string> {
  made += 1;
  const companyId = `0197b2a0-0000-7000-8000-${String(made).padStart(12, "0")}`;
  await append(companyId, agesDays);
  return companyId;
}

const trim = (days = 90) =>
  trimAudit(
    { database: gateway.database, logger: pino({ level: "silent" }), days },
    new AbortController().signal,
  );
const verify = (companyId: string) => verifyAudit(gateway.database, { companyId });
const tamper = (query: SqlFragment) => owner.query(sql.type(nothing)`${query}`);

describe("retention of the audit log (D58)", () => {
  it("removes what is older, of all companies, in batches; the rest is in order and goes on", async () => {
    const many = await makeChain(Array.from({ length: 1_100 }, () => 100));
    const some = await makeChain([200, 91, 89, 1]);
    const none = await makeChain([1]);
    await trim();
    expect(await verify(many)).toMatchObject({ ok: true, events: 0, start: { seq: 1_100 } });
    expect(await verify(some)).toMatchObject({ ok: true, events: 2, start: { seq: 2 } });
    expect(await verify(none)).not.toHaveProperty("start");
    await append(many, [0]);
    await append(some, [0]);
    await trim();
    expect(await verify(many)).toMatchObject({ ok: true, events: 1, end: { seq: 1_101 } });
    expect(await verify(some)).toMatchObject({ ok: true, events: 3 });
  });

  it("takes them out of the list, page by page", async () => {
    const companyId = await makeChain([100, 99, 98, 10, 9]);
    await owner.query(sql.type(nothing)`
      insert into gateway.companies (id, name) values (${companyId}, 'Reader')
    `);
    const given = { companyId, name: "Reader", scopes: ["audit:read" as const] };
    const { key } = await createApiKey(gateway.database, given);
    const list = async (query: string) => {
      const { body } = await call(gateway, "GET", `/api/v1/audit-logs${query}`, { key });
      return page.parse(body);
    };
    const filter = "?action=workflow.created&limit=";
    expect((await list(`${filter}50`)).data).toHaveLength(5);
    const before = await list(`${filter}2`);
    await trim();
    const after = await list(`${filter}50`);
    expect(after.data.map(({ resourceId }) => resourceId).toSorted()).toEqual(["10", "9"]);
    // A cursor from before goes on to what is still there.
    const next = await list(`${filter}2&cursor=${before.meta.cursor}`);
    expect(next).toMatchObject({ meta: { hasMore: false } });
  });

  const cases: [string, (id: string) => SqlFragment, object][] = [
    [
      "the first kept row removed",
      (id) => sql.fragment`delete from gateway.audit_log where company_id = ${id} and seq = 3`,
      { seq: 3, reason: "missing" },
    ],
    [
      "all kept rows removed",
      (id) => sql.fragment`delete from gateway.audit_log where company_id = ${id}`,
      { seq: 3, reason: "missing" },
    ],
    [
      "the start removed",
      (id) => sql.fragment`delete from gateway.audit_starts where company_id = ${id}`,
      { seq: 1, reason: "missing" },
    ],
    [
      "the start moved on while rows are there",
      (id) => sql.fragment`update gateway.audit_starts set seq = 3 where company_id = ${id}`,
      { seq: 3, reason: "unexpected" },
    ],
    [
      "another hash at the start",
      (id) => sql.fragment`
        update gateway.audit_starts set hash = decode(repeat('ab', 32), 'hex')
        where company_id = ${id}`,
      { seq: 3, reason: "detached" },
    ],
    [
      "the start moved behind the end",
      (id) => sql.fragment`
        with gone as (delete from gateway.audit_log where company_id = ${id})
        update gateway.audit_starts set seq = 9 where company_id = ${id}`,
      { seq: 5, reason: "missing" },
    ],
  ];

  it.each(cases)("does not hide %s by hand", async (_what, query, broken) => {
    const companyId = await makeChain([100, 100, 10, 10]);
    await trim();
    expect(await verify(companyId)).toMatchObject({ ok: true, events: 2 });
    await tamper(query(companyId));
    expect(await verify(companyId)).toMatchObject({ ok: false, firstBroken: broken });
  });

  it.each([
    [
      "a row missing",
      (id: string) =>
        sql.fragment`delete from gateway.audit_log where company_id = ${id} and seq = 2`,
      "missing",
    ],
    [
      "a changed row",
      (id: string) => sql.fragment`
        update gateway.audit_log set action = 'x' where company_id = ${id} and seq = 2`,
      "changed",
    ],
  ])("keeps a chain with %s from there on, for it to be found", async (_what, query, reason) => {
    const companyId = await makeChain([100, 100, 100, 10]);
    await tamper(query(companyId));
    await trim();
    expect(await verify(companyId)).toMatchObject({
      start: { seq: 1 },
      firstBroken: { seq: 2, reason },
    });
  });

  it("says of an anchor whose row is gone that it vouches for nothing", async () => {
    const companyId = await makeChain([100, 100]);
    const { end } = await verify(companyId);
    if (end === undefined) throw new Error("The chain has no end.");
    await append(companyId, [95, 1]);
    await trim();
    expect(await verifyAudit(gateway.database, { companyId, anchor: end })).toMatchObject({
      ok: false,
      firstBroken: { seq: 2, reason: "trimmed" },
    });
    const { start } = await verify(companyId);
    expect(start).toBeDefined();
    expect(await verifyAudit(gateway.database, { companyId, anchor: start })).toMatchObject({
      ok: true,
    });
  });

  it("is not a way for the gateway's role to remove young rows, or to move a start", async () => {
    const companyId = await makeChain([100, 28]);
    const asGateway = (query: SqlFragment) => gateway.database.query(sql.type(nothing)`${query}`);
    await expect(
      asGateway(sql.fragment`select gateway.trim_audit_chain(${companyId}, 2)`),
    ).rejects.toMatchObject({ constraint: "audit_log_young" });
    await expect(asGateway(sql.fragment`delete from gateway.audit_starts`)).rejects.toMatchObject({
      code: "42501",
    });
    expect(await verify(companyId)).toMatchObject({ ok: true, events: 2 });
  });
});
