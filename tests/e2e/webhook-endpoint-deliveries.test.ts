import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { startHttpDouble } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import {
  deliverySchema,
  getDelivery,
  makeReceived,
  storeDelivery,
  testEndpoint,
} from "../support/received-webhooks.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
let receiver: HttpDouble;

beforeAll(async () => {
  receiver = await startHttpDouble(() => ({ status: 500 }));
  system = await startWholeSystem();
});
afterAll(async () => {
  await system.stop();
  await receiver.close();
});

async function listDeliveries(endpointId: string, query = "") {
  const path = `/webhook-endpoints/${endpointId}/deliveries${query}`;
  const { data, meta } = await system.call("GET", path);
  return { deliveries: z.array(deliverySchema).parse(data), meta };
}

describe("deliveries", () => {
  it("are listed newest first, page by page, by status and type", async () => {
    const endpoint = await makeReceived(system, receiver, { rateLimitPerSecond: 1 });
    const stored: string[] = [];
    for (const status of ["failed", "succeeded", "pending", "failed"] as const) {
      stored.push(await storeDelivery(system, { endpointId: endpoint.id, status }));
    }
    const type = "workflow.failed";
    stored.push(
      await storeDelivery(system, { endpointId: endpoint.id, status: "failed", eventType: type }),
    );
    const newestFirst = stored.toReversed();
    const pages: string[] = [];
    let cursor = "";
    do {
      const { deliveries, meta } = await listDeliveries(endpoint.id, `?limit=2&cursor=${cursor}`);
      pages.push(...deliveries.map(({ id }) => id));
      cursor = meta?.cursor ?? "";
    } while (cursor !== "");
    expect(pages).toEqual(newestFirst);
    const idsOf = async (query: string) =>
      (await listDeliveries(endpoint.id, query)).deliveries.map(({ id }) => id);
    expect(await idsOf("?status=failed")).toEqual([stored[4], stored[3], stored[0]]);
    expect(await idsOf("?status=succeeded")).toEqual([stored[1]]);
    expect(await idsOf("?status=pending")).toEqual([stored[2]]);
    expect(await idsOf(`?status=failed&eventType=${type}`)).toEqual([stored[4]]);
    expect(await idsOf("?eventType=workflow.started")).toEqual([]);
    const wrong = ["?status=lost", "?eventType=lost", "?limit=0", "?limit=101", "?cursor=lost"];
    for (const query of wrong) {
      const path = `/webhook-endpoints/${endpoint.id}/deliveries${query}`;
      expect(await system.call("GET", path)).toMatchObject({ status: 400 });
    }
  });

  it("are found however many others lie before them", async () => {
    const endpoint = await makeReceived(system, receiver);
    const oldest = await storeDelivery(system, { endpointId: endpoint.id, status: "failed" });
    await storeSucceeded(endpoint.id, 12_000);
    const found: string[] = [];
    let cursor = "";
    let pages = 0;
    do {
      const query = `?status=pending&limit=1&cursor=${cursor}`;
      const { deliveries, meta } = await listDeliveries(endpoint.id, query);
      found.push(...deliveries.map(({ id }) => id));
      cursor = meta?.cursor ?? "";
      pages += 1;
    } while (cursor !== "");
    expect([found, pages]).toEqual([[], 3]);
    const { deliveries } = await listDeliveries(endpoint.id, "?status=failed");
    expect(deliveries.map(({ id }) => id)).toEqual([oldest]);
  });

  it("are all found when one of them is the last that is looked at for a page", async () => {
    const endpoint = await makeReceived(system, receiver);
    const eventType = "workflow.failed";
    const stored: string[] = [];
    for (let count = 0; count < 2; count += 1) {
      stored.push(
        await storeDelivery(system, { endpointId: endpoint.id, status: "failed", eventType }),
      );
    }
    await storeSucceeded(endpoint.id, 4_999);
    const first = await listDeliveries(endpoint.id, `?eventType=${eventType}`);
    const cursor = first.meta?.cursor ?? "";
    const second = await listDeliveries(endpoint.id, `?eventType=${eventType}&cursor=${cursor}`);
    const found = [...first.deliveries, ...second.deliveries].map(({ id }) => id);
    expect(found).toEqual(stored.toReversed());
  });

  it("that have failed, wait or have succeeded are queued again by hand, for one attempt more", async () => {
    const endpoint = await makeReceived(system, receiver);
    for (const status of ["failed", "pending", "succeeded"] as const) {
      const attemptCount = status === "pending" ? 2 : 8;
      const id = await storeDelivery(system, { endpointId: endpoint.id, status, attemptCount });
      const path = `/webhook-endpoints/${endpoint.id}/deliveries/${id}/retry`;
      const { status: code, data } = await system.call("POST", path);
      expect(code).toBe(202);
      const delivery = deliverySchema.parse(data);
      expect(delivery).toMatchObject({
        id,
        status: "pending",
        attemptCount,
        maxAttempts: status === "pending" ? 8 : 9,
        deliveredAt: null,
      });
      expect(Date.parse(delivery.nextAttemptAt ?? "")).toBeLessThanOrEqual(Date.now() + 1_000);
    }
  });

  it("of a disabled endpoint are not queued again", async () => {
    const endpoint = await makeReceived(system, receiver);
    const id = await storeDelivery(system, { endpointId: endpoint.id, status: "failed" });
    const path = `/webhook-endpoints/${endpoint.id}`;
    await system.call("PUT", path, { body: { status: "disabled" } });
    const body = { since: "2026-01-01T00:00:00Z" };
    const answers = [
      await system.call("POST", `${path}/deliveries/${id}/retry`),
      await system.call("POST", `${path}/recover`, { body }),
    ];
    for (const { status, error } of answers) {
      expect([status, error?.code]).toEqual([400, "INVALID_STATE"]);
    }
    expect(await getDelivery(system, endpoint.id, id)).toMatchObject({ status: "failed" });
  });

  it("that have failed since a moment are recovered together, no others and no tests", async () => {
    const endpoint = await makeReceived(system, receiver);
    const { deliveryId: tested } = await testEndpoint(system, endpoint);
    const early = await storeDelivery(system, { endpointId: endpoint.id, status: "failed" });
    await system.database.query(sql.type(z.object({}))`
      update webhooks.deliveries set created_at = now() - interval '2 days' where id = ${early}
    `);
    const other = await makeReceived(system, receiver);
    const elsewhere = await storeDelivery(system, { endpointId: other.id, status: "failed" });
    for (let count = 0; count < 3; count += 1) {
      await storeDelivery(system, { endpointId: endpoint.id, status: "failed" });
    }
    const path = `/webhook-endpoints/${endpoint.id}/recover`;
    const body = { since: new Date(Date.now() - 86_400_000).toISOString() };
    const recovered = await system.call("POST", path, { body });
    expect([recovered.status, recovered.data]).toEqual([202, { requeued: 3, hasMore: false }]);
    expect(await getDelivery(system, endpoint.id, early)).toMatchObject({ status: "failed" });
    expect(await getDelivery(system, endpoint.id, tested)).toMatchObject({ status: "failed" });
    expect(await getDelivery(system, other.id, elsewhere)).toMatchObject({ status: "failed" });
    const since = new Date(Date.now() + 3_600_000).toISOString();
    for (const wrong of [{}, { since }, { since: "yesterday" }, { since: 0 }]) {
      const refused = await system.call("POST", path, { body: wrong });
      expect(refused).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
    }
  });
});

/** Deliveries that have succeeded, newer than all before. */
async function storeSucceeded(endpointId: string, count: number): Promise<void> {
  await system.database.query(sql.type(z.object({}))`
    insert into webhooks.deliveries (
      id, endpoint_id, company_id, event_id, event_type, status, body_bytes, delivered_at
    )
    select webhooks.id_at('whd_', now()) || lpad(number::text, 16, '0'), ${endpointId},
      ${system.acme.id}, 'evt_none', 'workflow.completed', 'succeeded', 1, now()
    from generate_series(1, ${count}) as number
  `);
}
