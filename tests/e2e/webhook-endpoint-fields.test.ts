import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, newUuid, sql } from "@workflow/db";
import { z } from "zod";
import {
  DEAD_URL,
  endpointSchema,
  endpointWithSecretSchema,
  makeEndpoint,
} from "../support/received-webhooks.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const violations = z.array(z.object({ path: z.array(z.string()), message: z.string() }));

let system: WholeSystem;
/** An endpoint that all wrong updates name; none of them changes it. */
let endpointId: string;

beforeAll(async () => {
  system = await startWholeSystem();
  endpointId = (await makeEndpoint(system, system.acme.key)).id;
});
afterAll(() => system.stop());

/** Bodies beside a good name and URL, and the field that the answer has to name. */
const WRONG: Readonly<Record<string, { fields: object; path: readonly string[] }>> = {
  "an empty name": { fields: { name: "" }, path: ["name"] },
  "a name of 256 characters": { fields: { name: "n".repeat(256) }, path: ["name"] },
  "no absolute URL": { fields: { url: "/hook" }, path: ["url"] },
  "a URL of another scheme": { fields: { url: "ftp://receiver.example/" }, path: ["url"] },
  "a user in the URL": { fields: { url: "https://user@receiver.example/" }, path: ["url"] },
  "a password in the URL": { fields: { url: "https://:pw@receiver.example/" }, path: ["url"] },
  "a line break in the URL": {
    fields: { url: "https://receiver.example/\r\nx: y" },
    path: ["url"],
  },
  "a tab in the URL": { fields: { url: "https://recei\tver.example/" }, path: ["url"] },
  "a space around the URL": { fields: { url: " https://receiver.example/" }, path: ["url"] },
  "the port 0": { fields: { url: "https://receiver.example:0/" }, path: ["url"] },
  "a port beyond 65535": { fields: { url: "https://receiver.example:65536/" }, path: ["url"] },
  "a NUL in the host": { fields: { url: "https://a%00b.example/" }, path: ["url"] },
  "a URL of 2,049 characters": {
    fields: { url: `https://receiver.example/${"p".repeat(2_024)}` },
    path: ["url"],
  },
  "no event": { fields: { events: [] }, path: ["events"] },
  "an unknown event": { fields: { events: ["workflow.paused"] }, path: ["events", "0"] },
  "an event twice": {
    fields: { events: ["workflow.failed", "workflow.failed"] },
    path: ["events"],
  },
  "no workflow": { fields: { workflowIds: [] }, path: ["workflowIds"] },
  "a workflow that is no UUID": { fields: { workflowIds: ["run_1"] }, path: ["workflowIds", "0"] },
  "101 workflows": {
    fields: { workflowIds: Array.from({ length: 101 }, newUuid) },
    path: ["workflowIds"],
  },
  "a description of 1,001 characters": {
    fields: { description: "d".repeat(1_001) },
    path: ["description"],
  },
  "a rate of 0": { fields: { rateLimitPerSecond: 0 }, path: ["rateLimitPerSecond"] },
  "a rate of 1,001": { fields: { rateLimitPerSecond: 1_001 }, path: ["rateLimitPerSecond"] },
  "a rate of 1.5": { fields: { rateLimitPerSecond: 1.5 }, path: ["rateLimitPerSecond"] },
  "a header whose name has a space": { fields: { headers: { "a b": "v" } }, path: ["headers"] },
  "a header without a name": { fields: { headers: { "": "v" } }, path: ["headers"] },
  "a header whose name breaks the line": {
    fields: { headers: { "a\r\nhost": "v" } },
    path: ["headers"],
  },
  "a header whose value breaks the line": {
    fields: { headers: { "x-a": "v\r\nhost: inside" } },
    path: ["headers", "x-a"],
  },
  "a header with an empty value": { fields: { headers: { "x-a": "" } }, path: ["headers", "x-a"] },
  "a header whose value is not ASCII": {
    fields: { headers: { "x-a": "ü" } },
    path: ["headers", "x-a"],
  },
  "a header called __proto__": {
    fields: { headers: { ["__proto__"]: "v", constructor: "w" } },
    path: ["headers", "__proto__"],
  },
  "a header twice in two cases": {
    fields: { headers: { "x-a": "1", "X-A": "2" } },
    path: ["headers", "X-A"],
  },
  "21 headers": {
    fields: { headers: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, "v"])) },
    path: ["headers"],
  },
  "headers of 4,097 characters": {
    fields: { headers: { "x-a": "v".repeat(4_094) } },
    path: ["headers"],
  },
  ...Object.fromEntries(
    [
      "Host",
      "content-type",
      "Content-Length",
      "content-anything",
      "connection",
      "Transfer-Encoding",
      "upgrade",
      "X-Webhook-ID",
      "x-webhook-other",
      "webhook-signature",
      "proxy-authorization",
    ].map((name) => [
      `the header ${name}`,
      { fields: { headers: { [name]: "v" } }, path: ["headers", name] },
    ]),
  ),
};

describe("an endpoint cannot be made or changed with", () => {
  it.each(Object.keys(WRONG))("%s, and the answer names the field", async (name) => {
    const { fields = {}, path = [] } = WRONG[name] ?? {};
    const body = { name: "Receiver", url: "https://receiver.example/", ...fields };
    const key = await system.createKey(system.acme, ["workflows:write"]);
    const made = await system.call("POST", "/webhook-endpoints", { key, body });
    const changed = await system.call("PUT", `/webhook-endpoints/${endpointId}`, {
      key,
      body: fields,
    });
    for (const answer of [made, changed]) {
      expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
      expect(violations.parse(answer.error?.details).map((each) => each.path)).toEqual([path]);
    }
  });
});

it("none of the wrong updates has changed anything", async () => {
  const { data } = await system.call("GET", `/webhook-endpoints/${endpointId}`);
  expect(data).toMatchObject({ name: "Receiver", url: DEAD_URL, headers: {}, events: null });
});

const GOOD: Readonly<Record<string, object>> = {
  "the longest name": { name: "😀".repeat(255) },
  "a Unicode host": { url: "https://münchen.example/a?b=ü" },
  "a port": { url: "https://receiver.example:8443/" },
  "a URL of 2,048 characters": { url: `https://receiver.example/${"p".repeat(2_023)}` },
  "one event": { events: ["workflow.failed"] },
  "all events by name": {
    events: [
      "workflow.started",
      "workflow.checkpoint",
      "workflow.completed",
      "workflow.failed",
      "workflow.timeout",
      "workflow.cancelled",
      "webhook_endpoint.disabled",
    ],
  },
  "a workflow": { workflowIds: [newUuid()] },
  "a description": { description: "Für die Buchhaltung" },
  "a rate": { rateLimitPerSecond: 1_000 },
  headers: { headers: { Authorization: "Bearer abc def", "x-tenant": "42" } },
};

it.each(Object.keys(GOOD))(
  "an endpoint is made and changed with %s, as it was given",
  async (name) => {
    const fields = GOOD[name] ?? {};
    const { key } = system.acme;
    const made = await makeEndpoint(system, key, fields);
    expect(made).toMatchObject({ status: "active", consecutiveFailures: 0, ...fields });
    const plain = await makeEndpoint(system, key);
    const path = `/webhook-endpoints/${plain.id}`;
    const changed = await system.call("PUT", path, { key, body: fields });
    const expected = { ...plain, ...fields };
    expect(endpointSchema.parse(changed.data)).toMatchObject({
      ...fields,
      id: expected.id,
      createdAt: expected.createdAt,
    });
  },
);

it("null clears what an endpoint may be without", async () => {
  const made = await makeEndpoint(system, system.acme.key, {
    events: ["workflow.failed"],
    workflowIds: [newUuid()],
    headers: { "x-a": "1" },
    description: "gone soon",
    rateLimitPerSecond: 5,
  });
  const cleared = {
    events: null,
    workflowIds: null,
    headers: null,
    description: null,
    rateLimitPerSecond: null,
  };
  const path = `/webhook-endpoints/${made.id}`;
  const { data } = await system.call("PUT", path, { body: cleared });
  expect(data).toMatchObject({ ...cleared, headers: {} });
  expect((await system.call("GET", path)).data).toEqual(data);
});

it("an update that says nothing changes nothing; id, companyId and the counter cannot be set", async () => {
  const made = await makeEndpoint(system, system.acme.key);
  const path = `/webhook-endpoints/${made.id}`;
  const body = { id: "whe_other", companyId: system.globex.id, consecutiveFailures: 9 };
  const { status, data } = await system.call("PUT", path, { body });
  expect(status).toBe(200);
  const { secret: _secret, updatedAt: _updatedAt, ...kept } = made;
  expect(data).toMatchObject(kept);
});

it("a header's value is in no answer that refuses it", async () => {
  const headers = { "x-a": "hush-hush-hush\n" };
  const body = { name: "Receiver", url: DEAD_URL, headers };
  const { status, text } = await system.call("POST", "/webhook-endpoints", { body });
  expect(status).toBe(400);
  expect(text).not.toContain("hush");
});

it("a company has at most 1,000 endpoints, however many are made at once", async () => {
  const company = system.globex;
  await makeEndpoint(system, company.key);
  const before = await countEndpoints(company.id);
  await storeEndpoints(company.id, 995 - before);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () =>
      system.call("POST", "/webhook-endpoints", {
        key: company.key,
        body: { name: "Receiver", url: DEAD_URL },
      }),
    ),
  );
  const made = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status !== 201);
  expect(made).toHaveLength(5);
  for (const { status, error } of refused) {
    expect([status, error?.code]).toEqual([400, "BAD_REQUEST"]);
    expect(error?.details).toEqual({ limit: "webhook_endpoints", max: 1_000 });
  }
  expect(endpointWithSecretSchema.safeParse(made[0]?.data).success).toBe(true);
  expect(await countEndpoints(company.id)).toBe(1_000);
});

/** Copies of an endpoint that the company has. */
async function storeEndpoints(companyId: string, count: number): Promise<void> {
  await system.database.query(sql.type(z.object({}))`
    insert into webhooks.endpoints (id, company_id, name, url, company_key_id, sealed)
    select id, ${companyId}, 'Copy', 'https://receiver.example/', one.company_key_id, one.sealed
    from unnest(${sql.array(
      Array.from({ length: count }, () => newId("whe_")),
      "text",
    )}) as copy (id)
    cross join (
      select company_key_id, sealed from webhooks.endpoints
      where company_id = ${companyId} limit 1
    ) as one
  `);
}

async function countEndpoints(companyId: string): Promise<number> {
  const { count } = await system.database.one(sql.type(z.object({ count: z.number() }))`
    select count(*) as count from webhooks.endpoints where company_id = ${companyId}
  `);
  return count;
}
