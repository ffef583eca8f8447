import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { startHttpDouble } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import {
  endpointSchema,
  endpointWithSecretSchema,
  makeEndpoint,
  makeReceived,
  receivedBy,
  signatureOf,
  testEndpoint,
} from "../support/received-webhooks.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let receiver: HttpDouble;
/** Everything that the services have logged. */
let logged = "";

beforeAll(async () => {
  receiver = await startHttpDouble();
  system = await startWholeSystem({ log: { write: (line) => void (logged += line) } });
});
afterAll(async () => {
  await system.stop();
  await receiver.close();
});

describe("an endpoint", () => {
  it("shows its secret when it is made and rotated, and nowhere else", async () => {
    const made = await makeReceived(system, receiver);
    const path = `/webhook-endpoints/${made.id}`;
    const texts = [
      (await system.call("GET", path)).text,
      (await system.call("GET", "/webhook-endpoints?limit=100")).text,
      (await system.call("PUT", path, { body: { name: "Renamed" } })).text,
    ];
    const rotated = await system.call("POST", `${path}/rotate-secret`);
    const { secret } = endpointWithSecretSchema.parse(rotated.data);
    expect(secret).not.toBe(made.secret);
    texts.push(
      (await system.call("GET", path)).text,
      (await system.call("GET", "/audit-logs")).text,
    );
    for (const text of [...texts, logged, await storedText()]) {
      expect(text).not.toContain(made.secret.slice(6));
      expect(text).not.toContain(secret.slice(6));
    }
  });

  it("is in the list of its company, newest first, page by page, by its status", async () => {
    const { key } = system.globex;
    const made: string[] = [];
    for (const name of ["1", "2", "3"]) made.push((await makeEndpoint(system, key, { name })).id);
    const first = await system.call("GET", "/webhook-endpoints?limit=2", { key });
    expect(
      endpointSchema
        .array()
        .parse(first.data)
        .map(({ id }) => id),
    ).toEqual([made[2], made[1]]);
    const cursor = first.meta?.cursor ?? "";
    const second = await system.call("GET", `/webhook-endpoints?limit=2&cursor=${cursor}`, { key });
    expect(
      endpointSchema
        .array()
        .parse(second.data)
        .map(({ id }) => id),
    ).toEqual([made[0]]);
    expect(second.meta).toEqual({ cursor: null, hasMore: false });
    const elsewhere = await system.call("GET", `/webhook-endpoints?limit=2&cursor=${cursor}`);
    expect(elsewhere).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });

    const body = { status: "disabled" };
    await system.call("PUT", `/webhook-endpoints/${made[1]}`, { key, body });
    const disabled = await system.call("GET", "/webhook-endpoints?status=disabled", { key });
    expect(disabled.data).toEqual([
      expect.objectContaining({ id: made[1], status: "disabled", disabledReason: "caller" }),
    ]);
  });

  it("that was disabled is active again when its owner says so, its failures forgotten", async () => {
    const { id } = await makeReceived(system, receiver);
    await system.database.query(sql.type(z.object({}))`
      update webhooks.endpoints
      set status = 'disabled', disabled_reason = 'consecutive_failures', disabled_at = now(),
        consecutive_failures = 10
      where id = ${id}
    `);
    const path = `/webhook-endpoints/${id}`;
    const { data } = await system.call("PUT", path, { body: { status: "active" } });
    expect(data).toMatchObject({
      status: "active",
      disabledReason: null,
      disabledAt: null,
      consecutiveFailures: 0,
    });
  });

  it("is gone with its deliveries when it was deleted", async () => {
    const endpoint = await makeReceived(system, receiver);
    const { deliveryId } = await testEndpoint(system, endpoint);
    const path = `/webhook-endpoints/${endpoint.id}`;
    expect((await system.call("DELETE", path)).data).toEqual({ deleted: true });
    const answers = await Promise.all([
      system.call("GET", path),
      system.call("DELETE", path),
      system.call("GET", `${path}/deliveries`),
      system.call("GET", `${path}/deliveries/${deliveryId}`),
      system.call("POST", `${path}/deliveries/${deliveryId}/retry`),
      system.call("POST", `${path}/test`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
  });

  it("keeps every one of many updates that come at once, and its secret", async () => {
    const endpoint = await makeReceived(system, receiver, { headers: { "x-a": "1" } });
    const path = `/webhook-endpoints/${endpoint.id}`;
    const bodies = [
      { name: "Renamed" },
      { description: "Described" },
      { headers: { "x-b": "2" } },
      { events: ["workflow.failed"] },
      { rateLimitPerSecond: 7 },
    ];
    await Promise.all(bodies.map((body) => system.call("PUT", path, { body })));
    const { data } = await system.call("GET", path);
    expect(data).toMatchObject(Object.assign({}, ...bodies));
    await testEndpoint(system, endpoint);
    const [sent] = receivedBy(receiver, endpoint);
    if (sent === undefined) throw new Error("Nothing was sent.");
    expect(sent.headers["x-webhook-signature"]).toContain(signatureOf(endpoint.secret, sent));
  });
});

describe("rotating a secret", () => {
  it("signs with the new and the old one for a day, then with the new one alone", async () => {
    const endpoint = await makeReceived(system, receiver);
    const path = `/webhook-endpoints/${endpoint.id}`;
    const { data } = await system.call("POST", `${path}/rotate-secret`);
    const rotated = endpointWithSecretSchema.parse(data);
    const expiresInMs = Date.parse(rotated.oldSecretExpiresAt ?? "") - Date.now();
    expect(expiresInMs).toBeGreaterThan(23 * 3_600_000);
    expect(expiresInMs).toBeLessThan(25 * 3_600_000);
    await testEndpoint(system, endpoint);
    await system.database.query(sql.type(z.object({}))`
      update webhooks.endpoints set old_secret_expires_at = now() where id = ${endpoint.id}
    `);
    await testEndpoint(system, endpoint);
    const [both, one] = receivedBy(receiver, endpoint);
    if (both === undefined || one === undefined) throw new Error("Two were to be sent.");
    expect(both.headers["x-webhook-signature"]).toBe(
      `t=${String(both.headers["x-webhook-timestamp"])},${signatureOf(rotated.secret, both)},` +
        signatureOf(endpoint.secret, both),
    );
    expect(one.headers["x-webhook-signature"]).toBe(
      `t=${String(one.headers["x-webhook-timestamp"])},${signatureOf(rotated.secret, one)}`,
    );
    expect((await system.call("GET", path)).data).toMatchObject({ oldSecretExpiresAt: null });
  });

  it("with an overlap of 0 ends the old one at once", async () => {
    const endpoint = await makeReceived(system, receiver);
    const path = `/webhook-endpoints/${endpoint.id}/rotate-secret`;
    const { data } = await system.call("POST", path, { body: { overlapSeconds: 0 } });
    const { secret, oldSecretExpiresAt } = endpointWithSecretSchema.parse(data);
    expect(oldSecretExpiresAt).toBeNull();
    await testEndpoint(system, endpoint);
    const [sent] = receivedBy(receiver, endpoint);
    if (sent === undefined) throw new Error("Nothing was sent.");
    const timestamp = String(sent.headers["x-webhook-timestamp"]);
    expect(sent.headers["x-webhook-signature"]).toBe(`t=${timestamp},${signatureOf(secret, sent)}`);
  });

  it.each([-1, 604_801, 1.5, "3600"])("refuses an overlap of %p", async (overlapSeconds) => {
    const { id } = await makeReceived(system, receiver);
    const path = `/webhook-endpoints/${id}/rotate-secret`;
    const { status, error } = await system.call("POST", path, { body: { overlapSeconds } });
    expect([status, error?.code]).toEqual([400, "BAD_REQUEST"]);
    expect(error?.details).toMatchObject([{ path: ["overlapSeconds"] }]);
  });
});

/** All that is stored of endpoints and deliveries. */
async function storedText(): Promise<string> {
  const { text } = await system.database.one(sql.type(z.object({ text: z.string() }))`
    select concat(
      (select string_agg(each::text, '') from webhooks.endpoints as each),
      (select string_agg(each::text, '') from webhooks.deliveries as each),
      (select string_agg(each::text, '') from webhooks.outbound_events as each),
      (select string_agg(each::text, '') from webhooks.outbox as each)
    ) as text
  `);
  return text;
}
