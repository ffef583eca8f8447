import { derivedId, newUuid, sql } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { EVENT_CONSUMERS } from "../src/service.ts";
import { runEvent, startOutboundHarness } from "./support/outbound-harness.ts";
import type { OutboundHarness } from "./support/outbound-harness.ts";

const PENDING_MAX = 50;

let harness: OutboundHarness;
let receiver: HttpDouble;
let dead: HttpDouble;
beforeAll(async () => {
  harness = await startOutboundHarness({ pendingDeliveriesMax: PENDING_MAX });
  receiver = await startHttpDouble();
  // It takes requests and never answers.
  dead = await startHttpDouble(() => undefined);
});
afterAll(async () => {
  await dead.close();
  await harness.close();
  await receiver.close();
});

const bus = createInProcessEventBus({ consumers: EVENT_CONSUMERS });
const namesRow = z.object({ name: z.string() });
const nothing = z.object({});

/** Endpoints whose receiver never answers; their ids. */
async function addEndpoints(count: number, companyId: string): Promise<string[]> {
  const specs = Array.from({ length: count }, () => ({
    companyId,
    url: `${dead.url}/${companyId}`,
  }));
  const added = await Promise.all(specs.map((spec) => harness.addEndpoint(spec)));
  return added.map(({ endpointId }) => endpointId);
}

describe("the deliveries of one company", () => {
  it("go while 1,000 receivers of another do not answer", async () => {
    const [greedy, modest] = [newUuid(), newUuid()];
    await addEndpoints(1_000, greedy);
    await harness.addEndpoint({ companyId: modest, url: `${receiver.url}/modest` });
    await harness.publish([runEvent(greedy)]);
    const hanging = (): number => dead.requests.filter(({ path }) => path === `/${greedy}`).length;
    await waitFor(() => hanging() >= 64);
    await harness.publish(Array.from({ length: 20 }, () => runEvent(modest)));
    await waitFor(() => receiver.requests.filter(({ path }) => path === "/modest").length === 20);
    // What hangs is within the company's places; none of it has come to its end meanwhile.
    expect(hanging()).toBeLessThanOrEqual(128);
  });

  it("are not made beyond what may wait, and those of others are", async () => {
    const [full, other] = [newUuid(), newUuid()];
    const [endpointId = ""] = await addEndpoints(PENDING_MAX + 10, full);
    await harness.addEndpoint({ companyId: other, url: `${receiver.url}/other` });
    await harness.publish([runEvent(full)]);
    await waitFor(async () => (await harness.deliveries(endpointId)).length === 1);
    await harness.publish([runEvent(full), runEvent(other)]);
    await waitFor(() => receiver.requests.some(({ path }) => path === "/other"));
    expect(await harness.deliveries(endpointId)).toHaveLength(1);
  });
});

describe("the events of a company with 1,000 endpoints", () => {
  it("are each read once, in the round that makes their deliveries", async () => {
    const own = await startOutboundHarness();
    try {
      const companyId = newUuid();
      // What is made for an endpoint that was disabled by failures is kept and not sent.
      const { endpointId } = await own.addEndpoint({ companyId, url: dead.url });
      await own.database.query(sql.type(nothing)`
        insert into webhooks.endpoints (id, company_id, name, url, company_key_id, sealed, status,
          disabled_reason, disabled_at)
        select id || number, company_id, name, url, company_key_id, sealed, 'disabled',
          'consecutive_failures', now()
        from webhooks.endpoints cross join generate_series(1, 999) as number
        where id = ${endpointId}
      `);
      const events = Array.from({ length: 20 }, () => runEvent(companyId));
      await own.publish(events);
      await waitFor(async () => (await own.deliveries(`${endpointId}999`)).length === 20);
      // The few of the first round may have been stored and made at once.
      const asked = own.runs.askedRunIds;
      expect(new Set(asked).size).toBe(20);
      expect(asked).toHaveLength(20);
    } finally {
      await own.close();
    }
  });
});

describe("several processes", () => {
  it("serve an endpoint one at a time, and the other takes over when it stops", async () => {
    const companyId = newUuid();
    const { endpointId } = await harness.addEndpoint({ companyId, url: `${receiver.url}/two` });
    const isTwo = ({ path }: { path: string }): boolean => path === "/two";
    const another = await harness.startAnother(bus);
    const [first, second, third] = [runEvent(companyId), runEvent(companyId), runEvent(companyId)];
    const publishThere = async (event: typeof first): Promise<void> => {
      const body = JSON.stringify(event);
      await bus.publish([{ id: event.id, stream: "runs", type: event.type, body }]);
    };
    try {
      await harness.publish([first]);
      await waitFor(() => receiver.requests.filter(isTwo).length === 1);
      // Made by the one process, sent by the other.
      await publishThere(second);
      await waitFor(() => receiver.requests.filter(isTwo).length === 2);
    } finally {
      await another.stop();
    }
    await harness.publish([third]);
    await waitFor(async () => {
      const found = await harness.deliveries(endpointId);
      return found.filter(({ status }) => status === "succeeded").length === 3;
    });
    const sent = receiver.requests.filter(isTwo).map(({ headers }) => headers["x-webhook-id"]);
    expect(sent).toEqual([first.id, second.id, third.id]);
  });
});

describe("weeks that are over", () => {
  it("are removed with what lay in them, and what comes of them later is left out", async () => {
    const kept = await startOutboundHarness({ retentionDays: 8, retentionIntervalMs: 100 });
    try {
      const names = async (): Promise<string[]> => {
        const rows = await kept.database.any(sql.type(namesRow)`
          select name from webhooks.list_partitions() where parent = 'outbound_events'
        `);
        return rows.map(({ name }) => name);
      };
      await kept.database.transaction(async (transaction) => {
        await transaction.query(sql.type(nothing)`
          alter table webhooks.outbound_events
          detach partition webhooks.outbound_events_first
        `);
        await transaction.query(sql.type(nothing)`
          create table webhooks.outbound_events_2026_w01 (like webhooks.outbound_events including all)
        `);
        await transaction.query(sql.type(nothing)`
          do $$ begin execute format(
            'alter table webhooks.outbound_events attach partition webhooks.outbound_events_2026_w01
              for values from (minvalue) to (%L)',
            webhooks.id_at('evt_', now() - interval '9 days')
          ); end $$
        `);
      });
      const isThere = async (name: string): Promise<boolean> => (await names()).includes(name);
      await waitFor(async () => !(await isThere("outbound_events_2026_w01")));
      expect((await names()).length).toBeGreaterThan(5);
      const companyId = newUuid();
      const { endpointId } = await kept.addEndpoint({ companyId, url: receiver.url });
      await kept.database.query(sql.type(nothing)`
        update webhooks.endpoints
        set hears_since = now() - interval '1 year', selects_since = now() - interval '1 year'
        where id = ${endpointId}
      `);
      const timestamp = new Date(Date.now() - 20 * 86_400_000);
      const old = {
        ...runEvent(companyId),
        id: derivedId("evt_", timestamp, "old"),
        timestamp: timestamp.toISOString(),
      };
      const young = runEvent(companyId);
      await kept.publish([old, young]);
      await waitFor(async () => (await kept.deliveries(endpointId)).length > 0);
      expect(await kept.deliveries(endpointId)).toMatchObject([{ eventId: young.id }]);
    } finally {
      await kept.close();
    }
  });
});
