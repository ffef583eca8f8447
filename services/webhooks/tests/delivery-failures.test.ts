import { newUuid, sql } from "@workflow/db";
import type { EventEnvelope } from "@workflow/events";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { leaveDeliveries } from "../src/store/lanes.ts";
import { runEvent, startOutboundHarness } from "./support/outbound-harness.ts";
import type { OutboundHarness } from "./support/outbound-harness.ts";

let harness: OutboundHarness;
const audited: EventEnvelope[] = [];
beforeAll(async () => {
  harness = await startOutboundHarness();
  await harness.bus.subscribe({
    stream: "audit",
    consumer: "test",
    handler: async (event) => {
      audited.push(event);
    },
  });
});
afterAll(() => harness.close());

const nothing = z.object({});

async function withReceiver(
  handler: DoubleHandler,
  use: (receiver: HttpDouble, companyId: string) => Promise<void>,
): Promise<void> {
  const receiver = await startHttpDouble(handler);
  try {
    await use(receiver, newUuid());
  } finally {
    await receiver.close();
  }
}

describe("an attempt that fails", () => {
  it("is repeated with the same id and body until one succeeds, and all are told", async () => {
    let answers = 0;
    const handler: DoubleHandler = () => ({ status: ++answers < 3 ? 500 : 204, body: "busy" });
    await withReceiver(handler, async (receiver, companyId) => {
      const { endpointId } = await harness.addEndpoint({ companyId, url: receiver.url });
      await harness.publish([runEvent(companyId)]);
      const [delivery] = await waitFor(async () => {
        const found = await harness.deliveries(endpointId);
        return found[0]?.status === "succeeded" && found;
      });
      expect(delivery?.attempts).toMatchObject([
        { number: 1, statusCode: 500, responseBody: "busy", error: "The receiver answered 500." },
        { number: 2, statusCode: 500 },
        { number: 3, statusCode: 204, error: null },
      ]);
      const { requests } = receiver;
      expect(new Set(requests.map(({ headers }) => headers["x-webhook-id"])).size).toBe(1);
      expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
      await waitFor(async () => (await harness.endpoint(endpointId)).consecutiveFailures === 0);
    });
  });

  it("for the eighth time is the last one", async () => {
    await withReceiver(
      () => ({ status: 400 }),
      async (receiver, companyId) => {
        const { endpointId } = await harness.addEndpoint({ companyId, url: receiver.url });
        await harness.publish([runEvent(companyId)]);
        await waitFor(async () => (await harness.deliveries(endpointId))[0]?.status === "failed");
        expect(await harness.deliveries(endpointId)).toMatchObject([
          { attemptCount: 8, lastStatusCode: 400, nextInMs: null },
        ]);
        expect(await harness.endpoint(endpointId)).toMatchObject({
          status: "active",
          consecutiveFailures: 8,
        });
      },
    );
  });

  it("waits as long as the receiver asks for", async () => {
    await withReceiver(
      () => ({ status: 429, headers: { "retry-after": "7200" } }),
      async (receiver, companyId) => {
        const { endpointId } = await harness.addEndpoint({ companyId, url: receiver.url });
        await harness.publish([runEvent(companyId)]);
        await waitFor(async () => (await harness.deliveries(endpointId))[0]?.attemptCount === 1);
        const [delivery] = await harness.deliveries(endpointId);
        expect(delivery?.nextInMs).toBeGreaterThan(7_000_000);
        expect(delivery?.nextInMs).toBeLessThanOrEqual(7_200_000);
      },
    );
  });

  it("counts for redirects and for endless answers; neither is followed to its end", async () => {
    const handler: DoubleHandler = ({ path }, response) => {
      if (path === "/redirect") return { status: 302, headers: { location: "/target" } };
      const length = { "content-length": "10000000000" };
      response.writeHead(200, length).write("x".repeat(100_000));
      return undefined;
    };
    await withReceiver(handler, async (receiver, companyId) => {
      const redirected = await harness.addEndpoint({ companyId, url: `${receiver.url}/redirect` });
      const endless = await harness.addEndpoint({ companyId, url: `${receiver.url}/endless` });
      await harness.publish([runEvent(companyId)]);
      await waitFor(async () => {
        const found = await harness.deliveries(redirected.endpointId);
        return found[0]?.status === "failed";
      });
      const [delivery] = await waitFor(async () => {
        const found = await harness.deliveries(endless.endpointId);
        return found[0]?.status === "succeeded" && found;
      });
      expect(delivery?.attempts[0]?.responseBody).toBe("x".repeat(4_096));
      expect(receiver.requests.map(({ path }) => path)).not.toContain("/target");
    });
  });

  it("keeps no secret that the receiver sends back", async () => {
    const handler: DoubleHandler = ({ headers }) => ({ body: `got ${String(headers["x-token"])}` });
    await withReceiver(handler, async (receiver, companyId) => {
      const headers = { "X-Token": "very-secret-value" };
      const { endpointId } = await harness.addEndpoint({ companyId, url: receiver.url, headers });
      await harness.publish([runEvent(companyId)]);
      const [delivery] = await waitFor(async () => {
        const found = await harness.deliveries(endpointId);
        return found[0]?.status === "succeeded" && found;
      });
      expect(delivery?.attempts[0]?.responseBody).toBe("got ••••");
    });
  });
});

describe("an endpoint that fails", () => {
  it("ten times in a row is disabled once, told of, and its deliveries go when it is active", async () => {
    let isDead = true;
    const handler: DoubleHandler = ({ path }) => ({ status: path === "/a" && isDead ? 500 : 200 });
    await withReceiver(handler, async (receiver, companyId) => {
      const dead = await harness.addEndpoint({ companyId, url: `${receiver.url}/a` });
      const other = await harness.addEndpoint({
        companyId,
        url: `${receiver.url}/b`,
        events: ["webhook_endpoint.disabled"],
      });
      const events = [runEvent(companyId), runEvent(companyId)];
      await harness.publish(events);
      await waitFor(async () => (await harness.endpoint(dead.endpointId)).status === "disabled");
      expect(await harness.endpoint(dead.endpointId)).toMatchObject({
        disabledReason: "consecutive_failures",
      });
      await waitFor(async () => (await harness.deliveries(other.endpointId)).length === 1);
      const told = await waitFor(() => receiver.requests.find(({ path }) => path === "/b") ?? null);
      expect(JSON.parse(told.body)).toMatchObject({
        type: "webhook_endpoint.disabled",
        companyId,
        endpointId: dead.endpointId,
        reason: "consecutive_failures",
      });
      await waitFor(() => audited.some(({ companyId: of }) => of === companyId));
      expect(audited.filter(({ companyId: of }) => of === companyId)).toMatchObject([
        {
          type: "webhook_endpoint.disabled",
          data: { resourceId: dead.endpointId, actor: { type: "service", id: "webhooks" } },
        },
      ]);
      const meanwhile = runEvent(companyId);
      await harness.publish([meanwhile]);
      await waitFor(async () => (await harness.deliveries(dead.endpointId)).length === 3);
      isDead = false;
      const before = receiver.requests.length;
      await harness.activate(companyId, dead.endpointId);
      await waitFor(async () => {
        const found = await harness.deliveries(dead.endpointId);
        return found.every(({ status }) => status !== "pending");
      });
      const later = receiver.requests.slice(before).map(({ headers }) => headers["x-webhook-id"]);
      expect(later).toContain(meanwhile.id);
    });
  });

  it("by saying that it is gone is disabled at once", async () => {
    await withReceiver(
      () => ({ status: 410 }),
      async (receiver, companyId) => {
        const { endpointId } = await harness.addEndpoint({ companyId, url: receiver.url });
        await harness.publish([runEvent(companyId)]);
        await waitFor(async () => (await harness.endpoint(endpointId)).status === "disabled");
        expect(await harness.endpoint(endpointId)).toMatchObject({ disabledReason: "gone" });
        expect(receiver.requests).toHaveLength(1);
        expect(await harness.deliveries(endpointId)).toMatchObject([{ status: "pending" }]);
      },
    );
  });

  it("gets its next attempt at the address that it has by then", async () => {
    const handler: DoubleHandler = ({ path }) => ({ status: path === "/old" ? 500 : 200 });
    await withReceiver(handler, async (receiver, companyId) => {
      const { endpointId } = await harness.addEndpoint({ companyId, url: `${receiver.url}/old` });
      await harness.publish([runEvent(companyId)]);
      await waitFor(() => receiver.requests.length > 0);
      await harness.setUrl(companyId, endpointId, `${receiver.url}/new`);
      await waitFor(async () => (await harness.deliveries(endpointId))[0]?.status === "succeeded");
      expect(receiver.requests.at(-1)?.path).toBe("/new");
    });
  });
});

describe("what is left of an endpoint", () => {
  it("fails when a caller has disabled it, and goes when it is deleted", async () => {
    await withReceiver(
      () => ({ status: 503, headers: { "retry-after": "3600" } }),
      async (receiver, companyId) => {
        const [one, two] = [
          await harness.addEndpoint({ companyId, url: receiver.url }),
          await harness.addEndpoint({ companyId, url: receiver.url }),
        ];
        await harness.publish([runEvent(companyId)]);
        for (const { endpointId } of [one, two]) {
          await waitFor(async () => (await harness.deliveries(endpointId))[0]?.attemptCount === 1);
        }
        await harness.database.transaction(async (transaction) => {
          await transaction.query(sql.type(nothing)`
            update webhooks.endpoints
            set status = 'disabled', disabled_reason = 'caller', disabled_at = now()
            where id = ${one.endpointId}
          `);
          await transaction.query(sql.type(nothing)`
            delete from webhooks.endpoints where id = ${two.endpointId}
          `);
          for (const each of [one, two]) await leaveDeliveries(transaction, { companyId, ...each });
        });
        const marker = await harness.addEndpoint({ companyId, url: receiver.url });
        await harness.publish([runEvent(companyId)]);
        // All deliveries of an event are made at once.
        await waitFor(async () => (await harness.deliveries(marker.endpointId)).length === 1);
        await waitFor(async () => (await harness.deliveries(two.endpointId)).length === 0);
        await waitFor(
          async () => (await harness.deliveries(one.endpointId))[0]?.status === "failed",
        );
        expect(await harness.deliveries(one.endpointId)).toHaveLength(1);
      },
    );
  });
});
