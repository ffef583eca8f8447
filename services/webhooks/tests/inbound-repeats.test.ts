import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { AppError } from "@workflow/errors";
import { InboundEventStatus } from "@workflow/proto/webhooks/v1/events";
import { waitFor } from "@workflow/testkit";
import { callerOf, post, startInboundHarness } from "./support/inbound-harness.ts";
import type { InboundHarness } from "./support/inbound-harness.ts";

let harness: InboundHarness;
beforeAll(async () => {
  harness = await startInboundHarness();
});
afterAll(async () => {
  await harness?.[Symbol.asyncDispose]();
});

function receivedFor(companyId: string) {
  return harness.runs.received.filter((event) => event.companyId === companyId);
}

describe("a repeat", () => {
  it("starts nothing and is answered like the first, though 50 come at once to two processes", async () => {
    const companyId = randomUUID();
    const other = await harness.startAnother();
    harness.runs.waiting = () => 2;
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    harness.runs.gate = () => gate;
    const answers = Array.from({ length: 50 }, (_, place) =>
      post(
        place % 2 === 0 ? harness.httpAddress : other.httpAddress,
        `custom/${companyId}/h`,
        "{}",
        {
          "idempotency-key": "same",
        },
      ),
    );
    await waitFor(() => receivedFor(companyId).length > 0);
    open();
    const bodies = (await Promise.all(answers)).map(({ body }) => JSON.stringify(body));
    harness.runs.waiting = () => 1;
    expect(new Set(bodies).size).toBe(1);
    expect(JSON.parse(bodies[0] ?? "")).toMatchObject({ received: true, workflowsTriggered: 2 });
    expect(receivedFor(companyId)).toHaveLength(1);
    expect(await harness.list(companyId)).toHaveLength(1);
  });

  it("of another company, or under another key, is none", async () => {
    const companyIds = [randomUUID(), randomUUID()];
    const headers = { "x-event-id": "1" };
    for (const companyId of companyIds) {
      const answer = await harness.post(`custom/${companyId}/h`, "{}", headers);
      expect(answer.body["workflowsTriggered"]).toBe(1);
    }
    await harness.post(`custom/${companyIds[0]}/h`, "{}", { "x-event-id": "2" });
    expect(receivedFor(companyIds[0] ?? "")).toHaveLength(2);
  });

  it("is one at any spelling of its path, and none at another path", async () => {
    const companyId = randomUUID();
    const headers = { "x-event-id": "1" };
    const first = await harness.post(`custom/${companyId}/Its.own-path`, "{}", headers);
    const again = await harness.post(`custom/${companyId}/its_own.path`, "{}", headers);
    expect(again.body).toEqual(first.body);
    const other = await harness.post(`custom/${companyId}/its-own-paths`, "{}", headers);
    expect(other.body["eventId"]).not.toBe(first.body["eventId"]);
    expect(receivedFor(companyId)).toHaveLength(2);
  });

  it("of an event that nobody waited for is taken like a new one, until it has started runs", async () => {
    const companyId = randomUUID();
    const send = () => harness.post(`custom/${companyId}/h`, "{}", { "idempotency-key": "1" });
    harness.runs.waiting = () => 0;
    const missed = await send();
    expect(missed.body["workflowsTriggered"]).toBe(0);
    harness.runs.waiting = () => 1;
    const taken = await Promise.all([send(), send(), send()]);
    expect(new Set(taken.map(({ body }) => body["eventId"])).size).toBe(1);
    expect(taken[0]?.body).toMatchObject({ workflowsTriggered: 1 });
    expect(taken[0]?.body["eventId"]).not.toBe(missed.body["eventId"]);
    expect((await send()).body).toEqual(taken[0]?.body);
  });

  it("of an event that was replayed is one of the replay", async () => {
    const companyId = randomUUID();
    const send = () => harness.post(`custom/${companyId}/h`, "{}", { "idempotency-key": "1" });
    harness.runs.waiting = () => 0;
    const missed = await send();
    harness.runs.waiting = () => 1;
    const eventId = String(missed.body["eventId"]);
    const replay = await harness.events.replayInboundEvent({ eventId }, callerOf(companyId));
    const repeat = await send();
    expect(repeat.body).toMatchObject({ eventId: replay.id, workflowsTriggered: 1 });
  });
});

describe("an event whose runs cannot be started", () => {
  it("is answered 200 at once and started when the others are there again, once", async () => {
    const companyId = randomUUID();
    harness.runs.refusal = new AppError("UNAVAILABLE", "away");
    const answer = await harness.post(`custom/${companyId}/later`, "{}");
    harness.runs.refusal = null;
    expect(answer).toMatchObject({ status: 200, body: { workflowsTriggered: 0 } });
    const eventId = String(answer.body["eventId"]);
    await waitFor(async () => {
      const { status } = await harness.get(companyId, eventId);
      return status === InboundEventStatus.PROCESSED;
    });
    expect(harness.runs.runCount((event) => event.companyId === companyId)).toBe(1);
  });

  it("fails when runs says that it cannot be, and is started when it is replayed", async () => {
    const companyId = randomUUID();
    harness.runs.failure = (event) =>
      event.companyId === companyId ? new AppError("BAD_REQUEST", "no good") : null;
    const { body } = await harness.post(`custom/${companyId}/bad`, '{"a":1}');
    const eventId = String(body["eventId"]);
    const failed = await harness.get(companyId, eventId);
    expect(failed).toMatchObject({ status: InboundEventStatus.FAILED, error: "no good" });
    harness.runs.failure = () => null;
    const replay = await harness.events.replayInboundEvent({ eventId }, callerOf(companyId));
    expect(replay).toMatchObject({ replayedFrom: eventId, status: InboundEventStatus.RECEIVED });
    await waitFor(async () => {
      const { status } = await harness.get(companyId, replay.id);
      return status === InboundEventStatus.PROCESSED;
    });
    const inputs = receivedFor(companyId).map(({ inputJson }) => inputJson);
    expect(inputs).toEqual(['{"a":1}', '{"a":1}']);
    const stranger = harness.events.replayInboundEvent({ eventId }, callerOf(randomUUID()));
    await expect(stranger).rejects.toMatchObject({ reason: "NOT_FOUND" });
  });

  it("is ignored when no workflow waits for it", async () => {
    const companyId = randomUUID();
    harness.runs.waiting = () => 0;
    const { body } = await harness.post(`custom/${companyId}/nobody`, "{}");
    harness.runs.waiting = () => 1;
    expect(body["workflowsTriggered"]).toBe(0);
    const event = await harness.get(companyId, String(body["eventId"]));
    expect(event.status).toBe(InboundEventStatus.IGNORED);
  });
});
