import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { idTimestamp, newUuid } from "@workflow/db";
import { eventEnvelopeSchema } from "@workflow/events";
import { waitFor } from "@workflow/testkit";
import { silentLogger } from "../../events/tests/support/events.ts";
import type { OutboxDatabase } from "../../events/tests/support/outbox-database.ts";
import { createOutboxDatabase } from "../../events/tests/support/outbox-database.ts";
import { createRecordingBus } from "../../events/tests/support/recording-bus.ts";
import { auditDataSchema, createAuditTrail } from "../src/index.ts";

let outbox: OutboxDatabase;
let schema: string;
beforeAll(async () => {
  outbox = await createOutboxDatabase();
  schema = await outbox.createSchema();
});
afterAll(() => outbox.close());

describe("an audit trail", () => {
  it("tells of a change with who made it, on the audit stream, once it is committed", async () => {
    const bus = createRecordingBus();
    const { database } = outbox;
    const trail = createAuditTrail({ database, schema, bus, logger: silentLogger });
    const caller = {
      identity: { companyId: newUuid(), principal: { type: "user", id: newUuid(), name: "Ann" } },
      requestId: "req-1",
      client: { ipAddress: "203.0.113.9", userAgent: "curl/8" },
    };
    const entry = { action: "thing.made", resourceType: "thing", changes: {} } as const;
    const rolledBack = outbox.database.transaction(async (tx) => {
      await trail.record(tx, caller, { ...entry, resourceId: "lost" });
      throw new Error("changed my mind");
    });
    await expect(rolledBack).rejects.toThrow("changed my mind");
    await outbox.database.transaction((tx) =>
      trail.record(tx, caller, { ...entry, resourceId: "1" }, { ...entry, resourceId: "2" }),
    );
    trail.wake();
    await waitFor(() => bus.published.length === 2);
    await trail.stop();
    expect(bus.published.map(({ stream, type }) => [stream, type])).toEqual([
      ["audit", "thing.made"],
      ["audit", "thing.made"],
    ]);
    const envelope = eventEnvelopeSchema.parse(JSON.parse(bus.published[0]?.body ?? ""));
    expect(envelope).toMatchObject({ companyId: caller.identity.companyId, requestId: "req-1" });
    expect(new Date(envelope.timestamp)).toEqual(idTimestamp(envelope.id));
    expect(auditDataSchema.parse(envelope.data)).toEqual({
      resourceType: "thing",
      resourceId: "1",
      actor: caller.identity.principal,
      ipAddress: "203.0.113.9",
      userAgent: "curl/8",
      changes: {},
    });
  });
});
