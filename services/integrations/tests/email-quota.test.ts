import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import type { SendEmailRequest } from "@workflow/proto/integrations/v1/email";
import type { SmtpDoubleOptions } from "@workflow/testkit";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { deleteOldUsage, insertCountedSend } from "../src/store/email-usage.ts";
import { executionPlane, FROM, message, startEmailHarness } from "./support/email-harness.ts";
import type { EmailHarness } from "./support/email-harness.ts";

let harness: EmailHarness;

beforeAll(async () => {
  harness = await startEmailHarness();
});
afterAll(async () => {
  await harness.close();
});

/** Two replicas that share a quota, and a company that alternates between them. */
async function startReplicas(perDay: number, options?: SmtpDoubleOptions) {
  const double = await harness.startServer(options);
  const settings = { smtpUrl: double.url, emailFrom: FROM, perDay };
  const replicas = [await harness.start(settings), await harness.start(settings)];
  const identity = executionPlane();
  let calls = 0;
  const send = async (request: SendEmailRequest, as = identity) => {
    const replica = replicas[(calls += 1) % replicas.length];
    if (replica === undefined) throw new Error("no replica");
    return replica.sendEmail(request, { identity: as });
  };
  return { double, identity, send };
}

const to = (count: number, more: Partial<SendEmailRequest> = {}): SendEmailRequest =>
  message({ to: Array.from({ length: count }, (_, i) => `r${i}@example.com`), ...more });

async function outcomesOf(calls: readonly Promise<unknown>[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const outcome of await Promise.allSettled(calls)) {
    const reason: unknown = outcome.status === "rejected" ? outcome.reason : undefined;
    const name = reason === undefined ? "sent" : isAppError(reason) ? reason.reason : "unknown";
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

async function usageOf(companyId: string): Promise<number[]> {
  const rows = await harness.database.any(sql.type(z.object({ recipients: z.number() }))`
    select recipients from integrations.email_usage where company_id = ${companyId}
  `);
  return rows.map(({ recipients }) => recipients);
}

describe("EMAIL_PER_DAY", () => {
  it("is exact, however many messages come at once and to whichever replica", async () => {
    const { double, identity, send } = await startReplicas(25);
    const outcomes = await outcomesOf(Array.from({ length: 60 }, () => send(to(1))));
    expect(outcomes).toEqual(
      new Map([
        ["sent", 25],
        ["RATE_LIMITED", 35],
      ]),
    );
    expect(double.messages).toHaveLength(25);
    expect(await usageOf(identity.companyId)).toEqual([25]);
  });

  it("of hundreds of claims at once grants exactly those that fit", async () => {
    const { companyId } = executionPlane();
    const claims = Array.from({ length: 200 }, (_, i) =>
      insertCountedSend(
        harness.database,
        {
          companyId,
          idempotencyKey: `key-${i}`,
          claim: newUuid(),
          leaseMs: 10_000,
          recipients: 1 + (i % 3),
        },
        150,
      ),
    );
    const granted = (await Promise.all(claims)).map(({ createdAt }) => createdAt !== null);
    const recipients = granted.reduce((sum, isIn, i) => sum + (isIn ? 1 + (i % 3) : 0), 0);
    expect(recipients).toBe(150);
    expect(await usageOf(companyId)).toEqual([150]);
    const rows = await harness.database.any(sql.type(z.object({ key: z.string() }))`
      select idempotency_key as key from integrations.email_sends where company_id = ${companyId}
    `);
    expect(rows).toHaveLength(granted.filter(Boolean).length);
  });

  it("counts recipients, each mailbox of a message once; a message counts whole or not at all", async () => {
    const { double, identity, send } = await startReplicas(10);
    await send(to(4, { cc: ["r0@EXAMPLE.com"], bcc: ["hidden@example.com"] }));
    expect(await usageOf(identity.companyId)).toEqual([5]);
    await expect(send(to(6))).rejects.toMatchObject({ reason: "RATE_LIMITED" });
    await send(to(5));
    await expect(send(to(1))).rejects.toMatchObject({ reason: "RATE_LIMITED" });
    expect(await usageOf(identity.companyId)).toEqual([10]);
    expect(double.messages).toHaveLength(2);
  });

  it("refuses a message with more recipients than a day has", async () => {
    const { identity, send } = await startReplicas(3);
    await expect(send(to(4))).rejects.toMatchObject({ reason: "RATE_LIMITED" });
    expect(await usageOf(identity.companyId)).toEqual([]);
    await send(to(3));
  });

  it("says when the count begins anew", async () => {
    const { send } = await startReplicas(1);
    await send(to(1));
    const error: unknown = await send(to(1)).catch((thrown: unknown) => thrown);
    const resetsAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/);
    expect(error).toMatchObject({
      reason: "RATE_LIMITED",
      message: expect.stringContaining("begins anew at 2"),
      details: { limit: "emailPerDay", perDay: 1, resetsAt },
    });
    const retryAfterMs = isAppError(error) ? error.retryAfterMs : undefined;
    expect(retryAfterMs).toBeGreaterThanOrEqual(0);
    expect(retryAfterMs).toBeLessThanOrEqual(86_400_000);
  });

  it("counts a message once, however often its key comes, alone or at once", async () => {
    const { double, identity, send } = await startReplicas(3);
    const request = to(2);
    await Promise.all(Array.from({ length: 10 }, () => send(request)));
    await send(request);
    expect(await usageOf(identity.companyId)).toEqual([2]);
    expect(double.messages).toHaveLength(1);
    await send(to(1));
    // What was sent is answered also when the day is over its limit.
    await send(request);
  });

  it("counts a message once that the mail server refused for now and takes later", async () => {
    let refusals = 1;
    const { double, identity, send } = await startReplicas(1, {
      refuseMessage: () => ((refusals -= 1) >= 0 ? { code: 451, text: "later" } : undefined),
    });
    const request = to(1);
    await expect(send(request)).rejects.toMatchObject({ reason: "UPSTREAM_ERROR" });
    await send(request);
    expect(double.messages).toHaveLength(1);
    expect(await usageOf(identity.companyId)).toEqual([1]);
  });

  it("keeps nothing of a message that it refused: on another day the same key is sent", async () => {
    const { double, identity, send } = await startReplicas(1);
    await send(to(1));
    const request = to(1);
    await expect(send(request)).rejects.toMatchObject({ reason: "RATE_LIMITED" });
    await harness.database.query(sql.unsafe`
      update integrations.email_usage set day = day - 1 where company_id = ${identity.companyId}
    `);
    await send(request);
    expect(double.messages).toHaveLength(2);
  });

  it("is each company's own", async () => {
    const { send } = await startReplicas(1);
    await send(to(1));
    await expect(send(to(1))).rejects.toMatchObject({ reason: "RATE_LIMITED" });
    await send(to(1), executionPlane());
  });

  it("of 0 is no limit, and nothing is counted", async () => {
    const { identity, send } = await startReplicas(0);
    for (let i = 0; i < 3; i += 1) await send(to(50));
    expect(await usageOf(identity.companyId)).toEqual([]);
  });

  it("does not count what is refused before it could be sent", async () => {
    const { identity, send } = await startReplicas(5);
    await expect(send(to(1, { from: "x@bank.example" }))).rejects.toThrow();
    await expect(send(to(1, { subject: "a\nb" }))).rejects.toThrow();
    expect(await usageOf(identity.companyId)).toEqual([]);
  });

  it("forgets days that are a week over", async () => {
    const { identity, send } = await startReplicas(5);
    await send(to(1));
    await harness.database.query(sql.unsafe`
      insert into integrations.email_usage (company_id, day, recipients)
      values (${identity.companyId}, current_date - 9, 5)
    `);
    expect(await usageOf(identity.companyId)).toHaveLength(2);
    await deleteOldUsage(harness.database, 100);
    expect(await usageOf(identity.companyId)).toEqual([1]);
  });
});

describe("the line to the mail server", () => {
  it("has room for another company, however many messages one has in it", async () => {
    const { promise: reply, resolve: letReply } = Promise.withResolvers<void>();
    const double = await harness.startServer({ beforeReply: () => reply });
    const client = await harness.start({ smtpUrl: double.url, emailFrom: FROM });
    const [a, b] = [executionPlane(), executionPlane()];
    let refused = 0;
    const many = Array.from({ length: 120 }, () =>
      client.sendEmail(message(), { identity: a }).catch((error: unknown) => {
        refused += isAppError(error) && error.reason === "UPSTREAM_ERROR" ? 1 : 0;
      }),
    );
    await waitFor(() => refused === 70, { timeoutMs: 60_000 });
    const other = client.sendEmail(message(), { identity: b });
    letReply();
    await other;
    await Promise.all(many);
    expect(double.messages).toHaveLength(51);
  });
});
