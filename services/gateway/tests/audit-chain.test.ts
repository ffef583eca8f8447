import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, openDatabase, sql } from "@workflow/db";
import type { Database, SqlFragment } from "@workflow/db";
import { createDeadLetters, createInProcessEventBus, PublishError } from "@workflow/events";
import type { DeadLetters } from "@workflow/events";
import { pino } from "pino";
import { z } from "zod";
import { verifyAudit } from "../src/admin/index.ts";
import type { BrokenChain } from "../src/admin/index.ts";
import { consumeAudit } from "../src/audit/consume-audit.ts";
import { auditEvent, publish } from "./support/audit-events.ts";
import { startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";

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

const nothing = z.object({});
const seqRow = z.object({ seq: z.number(), id: z.string() });

function deadLetters(): DeadLetters {
  const logger = pino({ level: "silent" });
  return createDeadLetters({ database: gateway.database, schema: "gateway", logger });
}

async function listSeqs(companyId: string) {
  return owner.any(sql.type(seqRow)`
    select seq, event_id as id from gateway.audit_log where company_id = ${companyId} order by seq
  `);
}

/** A company with changes numbered 1 to `count`. */
async function makeChain(count: number): Promise<string> {
  const companyId = newUuid();
  const events = Array.from({ length: count }, (_, index) =>
    auditEvent(companyId, { resourceId: String(index + 1) }),
  );
  for (const event of events) await publish(gateway.bus, event);
  return companyId;
}

describe("the chain of a company", () => {
  it("has neither gaps nor forks, however many append at once from several gateways", async () => {
    const companies = [newUuid(), newUuid(), newUuid()];
    const others = await Promise.all(
      [1, 2].map(async () => {
        const bus = createInProcessEventBus({ consumers: {} });
        const subscription = await consumeAudit(gateway.database, bus, deadLetters());
        return { bus, subscription };
      }),
    );
    const buses = [gateway.bus, ...others.map(({ bus }) => bus)];
    await Promise.all(
      Array.from({ length: 300 }, (_, index) => {
        const companyId = companies[index % companies.length] ?? "";
        return publish(buses[index % buses.length] ?? gateway.bus, auditEvent(companyId));
      }),
    );
    for (const { bus } of others) await bus.close();
    for (const companyId of companies) {
      const rows = await listSeqs(companyId);
      expect(rows.map(({ seq }) => seq)).toEqual(
        Array.from({ length: 100 }, (_, index) => index + 1),
      );
      expect(await verifyAudit(gateway.database, { companyId })).toMatchObject({
        companies: 1,
        events: 100,
        ok: true,
      });
    }
  });

  it("takes an event once, however often and by whichever gateway it is delivered", async () => {
    const companyId = newUuid();
    const events = [auditEvent(companyId), auditEvent(companyId)];
    await publish(gateway.bus, ...events);
    const bus = createInProcessEventBus({ consumers: {} });
    await consumeAudit(gateway.database, bus, deadLetters());
    const more = auditEvent(companyId);
    await publish(bus, ...events, more, more);
    await bus.close();
    const ids = (await listSeqs(companyId)).map(({ id }) => id);
    expect(ids).toEqual([...events, more].map(({ id }) => id));
    expect(await verifyAudit(gateway.database, { companyId })).toMatchObject({ ok: true });
  });

  it("keeps an event that it does not understand away, and nothing else", async () => {
    const companyId = newUuid();
    const good = [auditEvent(companyId), auditEvent(companyId)];
    const [strange] = [auditEvent(companyId)];
    const body = strange.body.replace('"resourceId"', '"somethingElse"');
    const failure = await gateway.bus
      .publish([...good, { ...strange, body }])
      .then(() => null)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PublishError);
    expect(failure).toMatchObject({ failures: [{ id: strange.id, kind: "failed" }] });
    expect(await listSeqs(companyId)).toHaveLength(2);
    await publish(gateway.bus, strange);
    expect(await listSeqs(companyId)).toHaveLength(3);
  });

  it("takes texts that Postgres would refuse", async () => {
    const companyId = newUuid();
    const changes = { name: { from: null, to: "nul \0 and lone \ud800" } };
    const client = { userAgent: "a\0b\ud800" };
    await publish(gateway.bus, auditEvent(companyId, { resourceId: "x\0y", changes }, { client }));
    expect(await verifyAudit(gateway.database, { companyId })).toMatchObject({
      events: 1,
      ok: true,
    });
  });
});

describe("the gateway's database role", () => {
  const asGateway = (query: SqlFragment) => gateway.database.query(sql.type(nothing)`${query}`);
  const insertRow = (companyId: string, seq: number) => sql.fragment`
    insert into gateway.audit_log (
      company_id, seq, event_id, action, resource_type, resource_id, actor_type, actor_id, changes,
      created_at, prev_hash, hash
    )
    select ${companyId}, ${seq}, 'evt_made_up', action, resource_type, resource_id, actor_type,
      actor_id, changes, created_at, decode(repeat('00', 32), 'hex'), hash
    from gateway.audit_log
    where company_id = ${companyId} and seq = 1
  `;

  it.each([
    ["update the log", sql.fragment`update gateway.audit_log set action = 'nothing.done'`],
    ["delete from the log", sql.fragment`delete from gateway.audit_log`],
    ["empty the log", sql.fragment`truncate gateway.audit_log`],
    ["move the end of a chain", sql.fragment`update gateway.audit_heads set seq = seq - 1`],
    [
      "make an end of a chain",
      sql.fragment`insert into gateway.audit_heads values (gen_random_uuid(), 1, '')`,
    ],
    ["remove the end of a chain", sql.fragment`delete from gateway.audit_heads`],
    ["switch the trigger off", sql.fragment`alter table gateway.audit_log disable trigger all`],
    ["skip the trigger", sql.fragment`set session_replication_role = replica`],
  ])("cannot %s", async (_what, query) => {
    await makeChain(1);
    await expect(asGateway(query)).rejects.toMatchObject({
      code: "42501",
    });
  });

  it("cannot use the trigger's function on a table of its own", async () => {
    const attempt = gateway.database.transaction(async (transaction) => {
      await transaction.query(sql.type(nothing)`
        create temporary table mine (company_id uuid, seq bigint, prev_hash bytea, hash bytea)
      `);
      await transaction.query(sql.type(nothing)`
        create trigger steal before insert on mine
        for each row execute function gateway.extend_audit_chain()
      `);
    });
    await expect(attempt).rejects.toMatchObject({ code: "42501" });
  });

  it("can append only what continues a chain", async () => {
    const companyId = await makeChain(2);
    for (const seq of [1, 2, 3, 4]) {
      await expect(asGateway(insertRow(companyId, seq))).rejects.toThrow();
    }
    expect(await listSeqs(companyId)).toHaveLength(2);
  });
});

describe("verify-audit", () => {
  /** Does something that only the owner can, past the trigger. */
  const tamper = (query: SqlFragment): Promise<void> =>
    owner.transaction(async (transaction) => {
      await transaction.query(sql.type(nothing)`set local session_replication_role = replica`);
      await transaction.query(sql.type(nothing)`${query}`);
    });
  const rowOf = (companyId: string, seq: number) =>
    sql.fragment`company_id = ${companyId} and seq = ${seq}`;

  const cases: [string, (companyId: string) => SqlFragment, Omit<BrokenChain, "companyId">][] = [
    [
      "a changed value",
      (id) =>
        sql.fragment`update gateway.audit_log set actor_name = 'Somebody' where ${rowOf(id, 3)}`,
      { seq: 3, reason: "changed" },
    ],
    [
      "changes that mean the same but are written in another way",
      (id) => sql.fragment`
        update gateway.audit_log set changes = (changes::text || ' ')::json where ${rowOf(id, 2)}`,
      { seq: 2, reason: "changed" },
    ],
    [
      "a time moved by a millisecond",
      (id) => sql.fragment`
        update gateway.audit_log set created_at = created_at + interval '1 ms' where ${rowOf(id, 5)}`,
      { seq: 5, reason: "changed" },
    ],
    [
      "a row removed from the middle",
      (id) => sql.fragment`delete from gateway.audit_log where ${rowOf(id, 3)}`,
      { seq: 3, reason: "missing" },
    ],
    [
      "a row removed, with those behind it moved up",
      (id) => sql.fragment`
        with gone as (delete from gateway.audit_log where ${rowOf(id, 2)} returning seq)
        update gateway.audit_log set seq = audit_log.seq + 100 from gone where company_id = ${id}
          and audit_log.seq > gone.seq`,
      { seq: 2, reason: "missing" },
    ],
    [
      "the newest rows removed",
      (id) => sql.fragment`delete from gateway.audit_log where company_id = ${id} and seq > 3`,
      { seq: 4, reason: "missing" },
    ],
    [
      "all rows removed",
      (id) => sql.fragment`delete from gateway.audit_log where company_id = ${id}`,
      { seq: 1, reason: "missing" },
    ],
    [
      "two rows that changed places",
      (id) => sql.fragment`
        update gateway.audit_log as row
        set resource_id = other.resource_id, event_id = row.event_id
        from gateway.audit_log as other
        where row.company_id = ${id} and other.company_id = ${id}
          and row.seq in (2, 3) and other.seq = 5 - row.seq`,
      { seq: 2, reason: "changed" },
    ],
    [
      "a row behind the end",
      (id) => sql.fragment`
        insert into gateway.audit_log
        select company_id, 6, 'evt_made_up', action, resource_type, resource_id, actor_type, actor_id,
          actor_name, ip_address, user_agent, request_id, changes, created_at, prev_hash, hash
        from gateway.audit_log where ${rowOf(id, 5)}`,
      { seq: 6, reason: "unexpected" },
    ],
    [
      "an end that was removed",
      (id) => sql.fragment`delete from gateway.audit_heads where company_id = ${id}`,
      { seq: 1, reason: "unexpected" },
    ],
  ];

  it.each(cases)("finds %s", async (_what, query, broken) => {
    const companyId = await makeChain(5);
    expect(await verifyAudit(gateway.database, { companyId })).toMatchObject({ ok: true });
    await tamper(query(companyId));
    expect(await verifyAudit(gateway.database, { companyId })).toMatchObject({
      ok: false,
      firstBroken: { companyId, ...broken },
    });
    // Asked about all, it is found as well; that of another company is not.
    expect(await verifyAudit(gateway.database)).toMatchObject({ ok: false });
    const other = await makeChain(2);
    expect(await verifyAudit(gateway.database, { companyId: other })).toMatchObject({ ok: true });
  });

  it("finds a chain that was rewritten as a whole by an anchor that was kept elsewhere", async () => {
    const companyId = await makeChain(3);
    const { end } = await verifyAudit(gateway.database, { companyId });
    if (end === undefined) throw new Error("The chain has no end.");
    await tamper(sql.fragment`delete from gateway.audit_log where company_id = ${companyId}`);
    await tamper(sql.fragment`delete from gateway.audit_heads where company_id = ${companyId}`);
    for (let seq = 1; seq <= 4; seq += 1) await publish(gateway.bus, auditEvent(companyId));
    expect(await verifyAudit(gateway.database, { companyId })).toMatchObject({
      ok: true,
      events: 4,
    });
    expect(await verifyAudit(gateway.database, { companyId, anchor: end })).toMatchObject({
      ok: false,
      firstBroken: { companyId, seq: 3, reason: "changed" },
    });
  });
});
