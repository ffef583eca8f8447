import { createHmac } from "node:crypto";
import { newUuid, sql } from "@workflow/db";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble, RecordedRequest } from "@workflow/testkit";
import { Webhook } from "standardwebhooks";
import { z } from "zod";
import { runEvent, startOutboundHarness } from "./support/outbound-harness.ts";
import type { OutboundHarness } from "./support/outbound-harness.ts";

let harness: OutboundHarness;
beforeAll(async () => {
  harness = await startOutboundHarness();
});
afterAll(() => harness.close());

async function withReceiver(
  handler: Parameters<typeof startHttpDouble>[0],
  use: (receiver: HttpDouble) => Promise<void>,
): Promise<void> {
  const receiver = await startHttpDouble(handler);
  try {
    await use(receiver);
  } finally {
    await receiver.close();
  }
}

function ownSignature(secret: string, { headers, body }: RecordedRequest): string {
  const timestamp = String(headers["x-webhook-timestamp"]);
  return createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
}

describe("a delivery", () => {
  it("has the body of the contract, byte by byte as the run has it, and both signatures", async () => {
    const companyId = newUuid();
    await withReceiver(
      () => ({}),
      async (receiver) => {
        const { endpointId, secret } = await harness.addEndpoint({
          companyId,
          url: `${receiver.url}/hook`,
          headers: { "X-Team": "finance" },
        });
        const event = runEvent(companyId);
        const { runId } = event.data;
        const inputJson = '{"amount":1.10,"__proto__":{"a":1}}';
        harness.runs.payloads.set(runId, { found: true, inputJson, outputJson: '{"ok":true}' });
        await harness.publish([event]);
        const [request] = await waitFor(() => receiver.requests.length > 0 && receiver.requests);
        if (request === undefined) throw new Error("There is a request.");
        const { workflowVersion: _version, createdAt: _created, ...data } = event.data;
        const told = { id: event.id, type: event.type, timestamp: event.timestamp };
        const { workflowId, workflowName, runId: id, ...rest } = data as Record<string, unknown>;
        const head = { ...told, workflowId, workflowName, runId: id, companyId, ...rest };
        expect(request.body).toBe(
          `${JSON.stringify(head).slice(0, -1)},"input":${inputJson},"output":{"ok":true}}`,
        );
        expect(request.headers).toMatchObject({
          "content-type": "application/json",
          "x-webhook-id": event.id,
          "x-team": "finance",
        });
        const timestamp = String(request.headers["x-webhook-timestamp"]);
        expect(request.headers["x-webhook-signature"]).toBe(
          `t=${timestamp},v1=${ownSignature(secret, request)}`,
        );
        expect(new Webhook(secret).verify(request.body, headersOf(request))).toMatchObject({
          id: event.id,
        });
        const [delivery] = await waitFor(async () => {
          const found = await harness.deliveries(endpointId);
          return found[0]?.status === "succeeded" && found;
        });
        expect(delivery).toMatchObject({ attemptCount: 1, maxAttempts: 8, lastStatusCode: 200 });
        expect(delivery?.attempts).toHaveLength(1);
      },
    );
  });

  it("is signed with the secret before, too, as long as both count", async () => {
    const companyId = newUuid();
    await withReceiver(
      () => ({}),
      async (receiver) => {
        const oldSecret = harness.newSecret();
        const { secret } = await harness.addEndpoint({ companyId, url: receiver.url, oldSecret });
        await harness.publish([runEvent(companyId)]);
        const [request] = await waitFor(() => receiver.requests.length > 0 && receiver.requests);
        if (request === undefined) throw new Error("There is a request.");
        const signatures = String(request.headers["x-webhook-signature"]).split(",").slice(1);
        expect(signatures).toEqual([
          `v1=${ownSignature(secret, request)}`,
          `v1=${ownSignature(oldSecret, request)}`,
        ]);
        for (const key of [secret, oldSecret]) {
          expect(() => new Webhook(key).verify(request.body, headersOf(request))).not.toThrow();
        }
      },
    );
  });

  it("goes to the endpoints that select its type and workflow, and to no other company's", async () => {
    const companyId = newUuid();
    await withReceiver(
      () => ({}),
      async (receiver) => {
        const event = runEvent(companyId, {}, "workflow.failed");
        const { workflowId } = event.data;
        const add = (path: string, spec: object, owner = companyId) =>
          harness.addEndpoint({ companyId: owner, url: `${receiver.url}/${path}`, ...spec });
        await add("all", {});
        await add("both", { events: ["workflow.failed"], workflowIds: [workflowId] });
        await add("type", { events: ["workflow.completed"] });
        await add("workflow", { workflowIds: [newUuid()] });
        await add("foreign", {}, newUuid());
        await harness.publish([event]);
        await waitFor(() => receiver.requests.length >= 2);
        // Those that are made of a later event come after all that this one has made.
        const last = runEvent(companyId, {}, "workflow.completed");
        await harness.publish([last]);
        await waitFor(() => receiver.requests.length >= 4);
        const first = receiver.requests.filter((each) => each.headers["x-webhook-id"] === event.id);
        expect(first.map(({ path }) => path).toSorted()).toEqual(["/all", "/both"]);
        expect(receiver.requests.map(({ path }) => path)).not.toContain("/foreign");
      },
    );
  });

  it("is made once of an event that comes again", async () => {
    const companyId = newUuid();
    await withReceiver(
      () => ({}),
      async (receiver) => {
        const { endpointId } = await harness.addEndpoint({ companyId, url: receiver.url });
        const event = runEvent(companyId);
        await Promise.all([1, 2, 3].map(() => harness.publish([event])));
        await waitFor(() => receiver.requests.length > 0);
        await harness.publish([event]);
        const next = runEvent(companyId);
        await harness.publish([next]);
        await waitFor(() => receiver.requests.length >= 2);
        expect(receiver.requests.map(({ headers }) => headers["x-webhook-id"])).toEqual([
          event.id,
          next.id,
        ]);
        expect(await harness.deliveries(endpointId)).toHaveLength(2);
      },
    );
  });

  it("tells where to find a payload that is too large, and what went wrong", async () => {
    const companyId = newUuid();
    await withReceiver(
      () => ({}),
      async (receiver) => {
        await harness.addEndpoint({ companyId, url: receiver.url });
        const error = { code: "STEP_FAILED", message: "No.", stepId: "pay" };
        const event = runEvent(companyId, { error }, "workflow.failed");
        const { runId } = event.data;
        harness.runs.payloads.set(runId, { found: true, tooLarge: true });
        await harness.publish([event]);
        const [request] = await waitFor(() => receiver.requests.length > 0 && receiver.requests);
        expect(JSON.parse(request?.body ?? "")).toMatchObject({
          input: null,
          output: null,
          error,
          truncated: true,
          runUrl: `https://workflows.example.com/api/v1/runs/${runId}`,
        });
      },
    );
  });

  it("goes no more often than the endpoint allows", async () => {
    const companyId = newUuid();
    await withReceiver(
      () => ({}),
      async (receiver) => {
        const { endpointId } = await harness.addEndpoint({
          companyId,
          url: receiver.url,
          rateLimitPerSecond: 5,
        });
        await harness.publish(Array.from({ length: 8 }, () => runEvent(companyId)));
        const deliveries = await waitFor(async () => {
          const found = await harness.deliveries(endpointId);
          return found.length === 8 && found.every(({ status }) => status !== "pending") && found;
        });
        const moments = deliveries.flatMap(({ attempts }) =>
          attempts.map(({ at }) => +new Date(at)),
        );
        // Seven pauses of 200 ms, of which what a busy machine makes of the first and the last is taken off.
        expect(Math.max(...moments) - Math.min(...moments)).toBeGreaterThanOrEqual(1_000);
      },
    );
  });

  it("waits for a runs service that is away, and none is lost", async () => {
    const companyId = newUuid();
    await withReceiver(
      () => ({}),
      async (receiver) => {
        await harness.addEndpoint({ companyId, url: receiver.url });
        harness.runs.isAway = true;
        const asked = harness.runs.asked;
        const events = [runEvent(companyId), runEvent(companyId)];
        await harness.publish(events);
        await waitFor(() => harness.runs.asked > asked);
        expect(receiver.requests).toHaveLength(0);
        harness.runs.isAway = false;
        await waitFor(() => receiver.requests.length === 2);
        expect(idsOf(receiver).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
      },
    );
  });

  it("of a run that the bus never told of is made by comparison, once", async () => {
    const compared = await startOutboundHarness({ compareIntervalMs: 100 });
    try {
      const companyId = newUuid();
      await withReceiver(
        () => ({}),
        async (receiver) => {
          const { endpointId } = await compared.addEndpoint({ companyId, url: receiver.url });
          const [lost, told] = [runEvent(companyId), runEvent(companyId)];
          await compared.publish([told]);
          compared.runs.endEvents.push(lost, told);
          await waitFor(() => receiver.requests.length >= 2);
          // The second one to begin from here finds what the first has stored.
          const enough = compared.runs.comparisons + 2;
          await waitFor(() => compared.runs.comparisons >= enough);
          const next = runEvent(companyId);
          await compared.publish([next]);
          await waitFor(() => receiver.requests.length >= 3);
          const ids = idsOf(receiver);
          expect(ids.toSorted()).toEqual([lost.id, told.id, next.id].toSorted());
          expect(await compared.deliveries(endpointId)).toHaveLength(3);
        },
      );
    } finally {
      await compared.close();
    }
  });
});

describe("the comparison after an outage", () => {
  const MINUTE_MS = 60_000;
  let compared: OutboundHarness;
  beforeAll(async () => {
    compared = await startOutboundHarness({ compareIntervalMs: 100 });
    await compared.addEndpoint({ companyId: newUuid(), url: "http://127.0.0.1:1" });
  });
  afterAll(() => compared.close());

  /** Makes the last comparison one of long ago, and lets so many pages be told. */
  async function beBehind(outageMs: number, endsLeft: number): Promise<number> {
    const { runs, database } = compared;
    // What comes after a refusal begins anew.
    const refuseOnce = (): Promise<unknown> => {
      const before = runs.endsRefused;
      return waitFor(() => runs.endsRefused > before);
    };
    runs.endsLeft = 0;
    await refuseOnce();
    runs.askedEnds.length = 0;
    const startsAt = Date.now() - outageMs;
    await database.query(sql.type(z.object({}))`
      update webhooks.comparisons set compared_until = ${new Date(startsAt).toISOString()}
    `);
    await refuseOnce();
    runs.endsLeft = endsLeft;
    return startsAt;
  }

  const reached = (): number => compared.runs.askedEnds.at(-1)?.before.getTime() ?? 0;

  it("goes through the time in short slices, and on where it was when the runs service goes away", async () => {
    const outageMs = 60 * MINUTE_MS;
    const startsAt = await beBehind(outageMs, 6);
    const { askedEnds } = compared.runs;
    await waitFor(() => askedEnds.length >= 6);
    const stoppedAt = reached();
    expect(stoppedAt).toBeLessThan(startsAt + outageMs / 2);
    compared.runs.endsLeft = Infinity;
    await waitFor(() => reached() > Date.now() - MINUTE_MS);
    expect(askedEnds[6]?.from.getTime()).toBe(stoppedAt);
    let comparedUntil = startsAt;
    for (const { from, before } of askedEnds) {
      expect(before.getTime() - from.getTime()).toBeLessThanOrEqual(4 * MINUTE_MS);
      expect(from.getTime()).toBeLessThanOrEqual(comparedUntil);
      comparedUntil = Math.max(comparedUntil, before.getTime());
    }
  });

  it("takes shorter slices where more has ended than some pages tell", async () => {
    const busyMs = 40_000;
    compared.runs.endlessAboveMs = busyMs;
    await beBehind(10 * MINUTE_MS, Infinity);
    await waitFor(() => reached() > Date.now() - MINUTE_MS);
    const asked = Map.groupBy(compared.runs.askedEnds, ({ from, before }) =>
      [from, before].map((time) => time.getTime()).join(),
    );
    for (const slice of asked.values()) expect(slice.length).toBeLessThanOrEqual(8);
    compared.runs.endlessAboveMs = Infinity;
  });
});

function idsOf({ requests }: HttpDouble): string[] {
  return requests.map(({ headers }) => String(headers["x-webhook-id"]));
}

function headersOf({ headers }: RecordedRequest): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
