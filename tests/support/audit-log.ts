import { AUDIT_STREAM } from "@workflow/audit";
import { sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { connect } from "nats";
import { z } from "zod";
import type { WholeSystem } from "./whole-system.ts";

export const auditEvent = z.strictObject({
  id: z.string(),
  action: z.string(),
  resourceType: z.string(),
  resourceId: z.string(),
  actor: z.strictObject({ type: z.string(), id: z.string(), name: z.string().nullable() }),
  ipAddress: z.string().nullable(),
  userAgent: z.string().nullable(),
  requestId: z.string().nullable(),
  changes: z.record(z.string(), z.unknown()),
  createdAt: z.iso.datetime(),
});
export type AuditEvent = z.output<typeof auditEvent>;

/** Stores the services' events in the log, for all gateways together. */
const CONSUMER = "gateway-audit";

const countRow = z.object({ count: z.number() });

/** Waits until the log has all that services have sent. */
export async function waitForAudit({
  database,
  natsUrl = null,
}: Pick<WholeSystem, "database"> & Partial<Pick<WholeSystem, "natsUrl">>): Promise<void> {
  await waitFor(
    async () => {
      const { count } = await database.one(sql.type(countRow)`
        select count(*) as count
        from (
          select stream, published_at from workflows.outbox
          union all select stream, published_at from runs.outbox
          union all select stream, published_at from tables.outbox
          union all select stream, published_at from integrations.outbox
          union all select stream, published_at from webhooks.outbox
        ) as outbox
        where stream = 'audit' and published_at is null
      `);
      return count === 0;
    },
    { what: "all changes to be published" },
  );
  if (natsUrl !== null) await waitForConsumer(natsUrl);
}

/** Waits until the gateways have stored every event that the stream has. */
async function waitForConsumer(natsUrl: string): Promise<void> {
  const { host, username, password } = new URL(natsUrl);
  const login = username === "" ? {} : { user: username, pass: password };
  const connection = await connect({ servers: host, ...login });
  try {
    const { consumers } = await connection.jetstreamManager();
    await waitFor(
      async () => {
        const info = await consumers.info(AUDIT_STREAM, CONSUMER);
        return info.num_pending === 0 && info.num_ack_pending === 0;
      },
      { what: "all changes to be in the audit log" },
    );
  } finally {
    await connection.close();
  }
}

/** The events of a request in the log of a company, oldest first. */
export async function auditOf(
  system: WholeSystem,
  requestId: string,
  key = system.acme.key,
): Promise<AuditEvent[]> {
  await waitForAudit(system);
  const { data } = await system.call("GET", "/audit-logs?limit=100", { key });
  const events = z.array(auditEvent).parse(data);
  return events.filter((event) => event.requestId === requestId).toReversed();
}
