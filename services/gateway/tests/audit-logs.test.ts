import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { idTimestamp, newId, newUuid, sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { createApiKey } from "../src/admin/index.ts";
import { generateApiKey, hashApiKey } from "../src/auth/api-key-format.ts";
import { auditEvent, publish } from "./support/audit-events.ts";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

const event = z.strictObject({
  id: z.string().regex(/^evt_[0-9a-z]{26}$/),
  action: z.string(),
  resourceType: z.string(),
  resourceId: z.string(),
  actor: z.strictObject({ type: z.string(), id: z.string(), name: z.string().nullable() }),
  ipAddress: z.string().nullable(),
  userAgent: z.string().nullable(),
  requestId: z.string().nullable(),
  changes: z.record(z.string(), z.unknown()),
  createdAt: z.iso.datetime({ precision: 3 }),
});
const page = z.object({
  data: z.array(event),
  meta: z.strictObject({ cursor: z.string().nullable(), hasMore: z.boolean() }),
});

interface Reader {
  companyId: string;
  list: (query?: string) => Promise<z.output<typeof page>>;
  get: (query: string) => ReturnType<typeof call>;
}

/** A company of its own, with a key that may read its log, which is empty: nobody made the two. */
async function makeReader(): Promise<Reader> {
  const companyId = newUuid();
  const key = generateApiKey();
  const nothing = z.object({});
  await gateway.database.query(sql.type(nothing)`
    insert into gateway.companies (id, name) values (${companyId}, 'Reader')
  `);
  await gateway.database.query(sql.type(nothing)`
    insert into gateway.api_keys (id, company_id, name, key_hash, key_prefix, scopes)
    values (
      ${newUuid()}, ${companyId}, 'Reader', ${sql.binary(hashApiKey(key))}, 'wfk_', '{audit:read}'
    )
  `);
  const get = (query: string) => call(gateway, "GET", `/api/v1/audit-logs${query}`, { key });
  return {
    companyId,
    get,
    async list(query = "") {
      const answer = await get(query);
      expect(answer.status).toBe(200);
      return page.parse(answer.body);
    },
  };
}

describe("GET /audit-logs", () => {
  it("shows what a service has told, to the field", async () => {
    const { companyId, list } = await makeReader();
    const actorId = newUuid();
    await publish(gateway.bus, auditEvent(companyId, {}, { actorId, requestId: "req-7" }));
    const { data, meta } = await list();
    expect(data).toEqual([
      {
        id: expect.any(String),
        action: "workflow.created",
        resourceType: "workflow",
        resourceId: "0197b2a0-0000-7000-8000-000000000001",
        actor: { type: "api_key", id: actorId, name: "CI" },
        ipAddress: "203.0.113.9",
        userAgent: "curl/8",
        requestId: "req-7",
        changes: { name: { from: null, to: "Orders" } },
        createdAt: expect.any(String),
      },
    ]);
    expect(meta).toEqual({ cursor: null, hasMore: false });
  });

  it("pages through everything, newest first, without losing or repeating any", async () => {
    const { companyId, list } = await makeReader();
    const events = Array.from({ length: 23 }, () => auditEvent(companyId));
    await publish(gateway.bus, ...events);
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const { data, meta } = await list(`?limit=5&cursor=${cursor}`);
      seen.push(...data.map(({ id }) => id));
      expect(meta.hasMore).toBe(meta.cursor !== null);
      cursor = meta.cursor;
    }
    expect(seen).toEqual(events.map(({ id }) => id).toReversed());
  });

  it("finds by each filter and by several", async () => {
    const { companyId, list } = await makeReader();
    const actorId = newUuid();
    const paused = auditEvent(
      companyId,
      { action: "workflow.paused", resourceId: "a" },
      { actorId },
    );
    const created = auditEvent(companyId, { resourceId: "b" });
    const secret = auditEvent(
      companyId,
      { action: "secret.created", resourceType: "secret", resourceId: "a" },
      { actorId },
    );
    await publish(gateway.bus, paused, created, secret);
    const found = async (query: string) => (await list(query)).data.map(({ id }) => id);
    expect(await found("?action=workflow.paused")).toEqual([paused.id]);
    expect(await found("?resourceType=workflow")).toEqual([created.id, paused.id]);
    expect(await found("?resourceId=a")).toEqual([secret.id, paused.id]);
    expect(await found("?resourceType=secret&resourceId=a")).toEqual([secret.id]);
    expect(await found(`?actorId=${actorId}`)).toEqual([secret.id, paused.id]);
    expect(await found(`?actorId=${actorId}&action=secret.created`)).toEqual([secret.id]);
    expect(await found("?action=workflow.cloned")).toEqual([]);
  });

  it("finds from a moment on, and until before another", async () => {
    const { companyId, list } = await makeReader();
    for (let made = 0; made < 3; made += 1) {
      const event = auditEvent(companyId);
      await publish(gateway.bus, event);
      // By the ids: the machine's clock may be set back, and ids never go back.
      await waitFor(() => idTimestamp(newId("evt_")) > idTimestamp(event.id), { intervalMs: 1 });
    }
    const { data } = await list();
    const [newest, middle, oldest] = data;
    const found = async (query: string) => (await list(query)).data.map(({ id }) => id);
    expect(await found(`?from=${middle?.createdAt}`)).toEqual([newest?.id, middle?.id]);
    expect(await found(`?to=${middle?.createdAt}`)).toEqual([oldest?.id]);
    expect(await found(`?from=${middle?.createdAt}&to=${newest?.createdAt}`)).toEqual([middle?.id]);
    expect(await found("?from=2100-01-01T00:00:00Z")).toEqual([]);
    expect(await found("?to=0001-01-01T00:00:00Z")).toEqual([]);
  });

  it.each([
    ["action", "?action=Workflow%20created"],
    ["action", "?action=created"],
    ["resourceType", "?resourceType=%25"],
    ["resourceId", "?resourceId="],
    ["resourceId", `?resourceId=${"x".repeat(256)}`],
    ["actorId", "?actorId="],
    ["from", "?from=yesterday"],
    ["to", "?to=2026-02-30T00:00:00Z"],
    ["to", "?from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z"],
    ["limit", "?limit=0"],
    ["limit", "?limit=101"],
    ["cursor", "?cursor=made-up"],
  ])("answers 400 naming %s for %s", async (field, query) => {
    const { get } = await makeReader();
    const { status, body } = await get(query);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error: { code: "BAD_REQUEST", details: [{ path: [field], message: expect.any(String) }] },
    });
  });

  it("takes no cursor of another company or of other filters", async () => {
    const [one, other] = [await makeReader(), await makeReader()];
    for (const { companyId } of [one, other]) {
      await publish(gateway.bus, auditEvent(companyId), auditEvent(companyId));
    }
    const { cursor } = (await one.list("?limit=1")).meta;
    expect((await one.get(`?limit=1&cursor=${cursor}`)).status).toBe(200);
    expect((await other.get(`?limit=1&cursor=${cursor}`)).status).toBe(400);
    expect((await one.get(`?limit=1&action=run.retried&cursor=${cursor}`)).status).toBe(400);
  });

  it("shows a company its own changes only", async () => {
    const [one, other] = [await makeReader(), await makeReader()];
    const hers = auditEvent(one.companyId);
    await publish(gateway.bus, hers);
    expect((await one.list()).data).toHaveLength(1);
    expect((await other.list()).data).toEqual([]);
    expect((await other.list("?resourceType=workflow")).data).toEqual([]);
  });

  it("needs the scope audit:read", async () => {
    const { companyId } = gateway.company;
    const { key } = await createApiKey(gateway.database, {
      companyId,
      name: "Reader",
      scopes: ["workflows:read", "runs:read", "api_keys:read"],
    });
    const answer = await call(gateway, "GET", "/api/v1/audit-logs", { key });
    expect(answer.status).toBe(403);
  });
});
