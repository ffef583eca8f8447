import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { connectAccount, forgetAll, hmac, INVALID } from "./support/inbound-senders.ts";
import type { Headers } from "./support/inbound-senders.ts";
import { startProviderHarness } from "./support/provider-harness.ts";
import type { ProviderHarness } from "./support/provider-harness.ts";

let harness: ProviderHarness;
beforeAll(async () => {
  harness = await startProviderHarness({ nango: "nango-old,nango-new" });
});
afterAll(() => harness?.close());
beforeEach(() => forgetAll(harness));

describe("what the OAuth broker sends", () => {
  const named = { integrationId: "slack", brokerConnectionId: "broker-1" };
  const wrap = (more: object) =>
    JSON.stringify({
      from: "slack",
      providerConfigKey: "slack",
      connectionId: "broker-1",
      ...more,
    });
  const sendSigned = (body: string, more: Headers = []) =>
    harness.post("nango", body, [["x-nango-hmac-sha256", hmac("nango-new", body)], ...more]);

  it("is refused unless it is signed, by either scheme", async () => {
    const body = wrap({ type: "other" });
    const older = createHash("sha256").update(`nango-old${body}`).digest("hex");
    const taken = { status: 200, body: { received: true, eventId: null, workflowsTriggered: 0 } };
    expect(await sendSigned(body)).toEqual(taken);
    expect(await harness.post("nango", body, [["x-nango-signature", older]])).toEqual(taken);
    const forged: Headers[] = [
      [],
      [["x-nango-hmac-sha256", hmac("wrong", body)]],
      [["x-nango-hmac-sha256", older]],
      [["x-nango-signature", hmac("nango-new", body)]],
      [
        ["x-nango-hmac-sha256", hmac("nango-new", body)],
        ["x-nango-hmac-sha256", hmac("nango-new", body)],
      ],
    ];
    for (const headers of forged)
      expect(await harness.post("nango", body, headers)).toEqual(INVALID);
    const broken = await sendSigned("{");
    expect(broken).toEqual({ status: 400, body: { error: "Invalid JSON" } });
  });

  it("of a provider's events starts runs of the connection's company, and of that provider only", async () => {
    const companyId = connectAccount(harness, "slack", "T1", named);
    connectAccount(harness, "slack", "T1");
    const event = {
      type: "event_callback",
      event_id: "Ev1",
      event: { type: "message", text: "hi" },
    };
    const body = wrap({ type: "forward", payload: event });
    const [first, again] = [await sendSigned(body), await sendSigned(body)];
    expect(first).toMatchObject({ status: 200, body: { received: true, workflowsTriggered: 1 } });
    expect(again).toEqual(first);
    expect(harness.started).toMatchObject([
      { companyId, source: { $case: "provider", value: "slack" } },
    ]);
    expect(JSON.parse(harness.started[0]?.inputJson ?? "")).toEqual({
      eventType: "message",
      externalEventId: "Ev1",
      data: event,
    });
  });

  it("as a batch is one event an element, and a sender's key makes a repeat of each", async () => {
    connectAccount(harness, "slack", "T1", named);
    const payload = [{ type: "a" }, { type: "b" }];
    const body = wrap({ type: "webhook", payload });
    const key: Headers = [["idempotency-key", newUuid()]];
    const [first, again] = [await sendSigned(body, key), await sendSigned(body, key)];
    expect(first.body).toMatchObject({ workflowsTriggered: 2 });
    expect(again).toEqual(first);
    expect(harness.started).toHaveLength(2);
    // Without a key nothing says that it is the same.
    await sendSigned(body);
    expect(harness.started).toHaveLength(4);
  });

  it("of a connection that is unknown, ended or another provider's starts nothing and is recorded", async () => {
    connectAccount(harness, "slack", "T1", { ...named, status: "expired" });
    connectAccount(harness, "stripe", "T1", { ...named, brokerConnectionId: "broker-2" });
    const type = newUuid();
    for (const connectionId of ["broker-1", "broker-2", "broker-3", "", 7]) {
      const answer = await sendSigned(wrap({ type: "forward", connectionId, payload: { type } }));
      expect(answer).toMatchObject({ status: 200, body: { workflowsTriggered: 0 } });
    }
    await sendSigned(wrap({ type: "forward", providerConfigKey: "unknown", payload: { type } }));
    expect(harness.started).toEqual([]);
    const rows = await harness.recorded(type);
    expect(rows.map(({ company, status }) => `${company} ${status}`)).toEqual(
      Array.from({ length: 6 }, () => "null ignored"),
    );
  });

  it("of an attempt to connect an account is handed on, and told again when nobody could take it", async () => {
    connectAccount(harness, "slack", "T1", named);
    const attempt = newUuid();
    const failure = { type: "oauth", description: "access_denied" };
    const told = { type: "auth", operation: "creation", success: false, error: failure };
    const body = wrap({ ...told, tags: { end_user_id: attempt } });
    harness.reportError = new AppError("UPSTREAM_ERROR", "The broker does not answer.");
    expect((await sendSigned(body)).status).toBe(502);
    harness.reportError = null;
    const answer = await sendSigned(body);
    expect(answer).toMatchObject({ status: 200, body: { received: true } });
    expect(harness.reports[1]).toEqual({
      ...named,
      endUserId: attempt,
      success: false,
      error: "access_denied",
      operation: "creation",
    });
    // Older versions say whom it is for elsewhere; of nobody's it is taken, too.
    const unknown = { type: "auth", connectionId: "broker-9", endUser: { endUserId: attempt } };
    expect((await sendSigned(wrap(unknown))).status).toBe(200);
    expect(harness.reports[2]).toMatchObject({ endUserId: attempt, success: true });
  });

  it("of a synchronisation is handed on when it has succeeded", async () => {
    connectAccount(harness, "slack", "T1", named);
    await sendSigned(wrap({ type: "sync", success: false }));
    expect(harness.syncs).toEqual([]);
    await sendSigned(wrap({ type: "sync", success: true }));
    expect(harness.syncs).toEqual([{ ...named, syncedAt: undefined }]);
  });
});
