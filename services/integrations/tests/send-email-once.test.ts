import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import type { SendEmailRequest } from "@workflow/proto/integrations/v1/email";
import type { Identity } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { pino } from "pino";
import { createMailTransport } from "../src/email/mail-transport.ts";
import { parseMessage } from "../src/email/parse-message.ts";
import { createFileLoader } from "../src/files/file-loader.ts";
import { sendOnce } from "../src/email/send-once.ts";
import { deleteOldSends } from "../src/store/email-sends.ts";
import { executionPlane, FROM, message, startEmailHarness } from "./support/email-harness.ts";
import type { EmailHarness } from "./support/email-harness.ts";

let harness: EmailHarness;

beforeAll(async () => {
  harness = await startEmailHarness();
});

afterAll(async () => {
  await harness.close();
});

describe("an idempotency key", () => {
  it("sends once, however many ask at once and of whichever process", async () => {
    const { double, client, identity } = await harness.startSender();
    const other = await harness.start({ smtpUrl: double.url, emailFrom: FROM });
    const request = message();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? client : other).sendEmail(request, { identity }),
      ),
    );
    expect(double.messages).toHaveLength(1);
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
  });

  it("belongs to its company", async () => {
    const { double, client } = await harness.startSender();
    const request = message();
    const one = await client.sendEmail(request, { identity: executionPlane() });
    const two = await client.sendEmail(request, { identity: executionPlane() });
    expect(double.messages).toHaveLength(2);
    expect(one.messageId).not.toBe(two.messageId);
  });

  it("is free again at once when the caller gave up in the middle", async () => {
    let asked = 0;
    const { double, client, identity, send } = await harness.startSender({
      beforeReply: () => ((asked += 1) === 1 ? new Promise(() => {}) : Promise.resolve()),
    });
    const request = message();
    const aborter = new AbortController();
    const call = client.sendEmail(request, { identity, signal: aborter.signal });
    await waitFor(() => asked === 1);
    aborter.abort();
    await expect(call).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    await send(request);
    expect(double.messages).toHaveLength(1);
  });

  it("is held for as long as sending takes, and lost by a process that was stopped too long", async () => {
    const { promise: reply, resolve: letReply } = Promise.withResolvers<void>();
    const double = await harness.startServer({ beforeReply: () => reply });
    const { database } = harness;
    const transport = createMailTransport(double.url);
    const files = createFileLoader({ allowPrivate: false });
    const sender = {
      database,
      way: transport,
      files,
      perDay: 0,
      logger: pino({ level: "silent" }),
      claimMs: 2_000,
    };
    const key = { companyId: newUuid(), idempotencyKey: newUuid() };
    const parsed = parseMessage(message());
    const from = parsed.to[0];
    if (from === undefined) throw new Error("no address");
    const never = new AbortController().signal;
    const sending = [1, 2].map(() => sendOnce(sender, key, { ...parsed, from }, never));
    await waitFor(() => double.connections().open === 1);
    const [first] = await listClaims(key.idempotencyKey);
    await waitFor(async () => {
      const [now] = await listClaims(key.idempotencyKey);
      // Renewed past what the first claim was good for, by the same holder.
      return (now?.until ?? 0) > (first?.until ?? 0) + 1_000 && now?.claim === first?.claim;
    });
    expect(double.connections().most).toBe(1);

    await database.query(sql.unsafe`
      update integrations.email_sends set claim = ${newUuid()}, claimed_until = now() + '1 hour'
      where idempotency_key = ${key.idempotencyKey}
    `);
    const lost = await Promise.any(sending.map((each) => each.then(() => null, String)));
    expect(lost).toContain("could not be finished in time");
    await database.query(sql.unsafe`
      update integrations.email_sends set state = 'sent'
      where idempotency_key = ${key.idempotencyKey}
    `);
    const outcomes = await Promise.allSettled(sending);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    letReply();
    transport.close();
    await files.close();
  });

  it("of a process that died while sending is taken over, with the same Message-ID", async () => {
    const { double, identity, send } = await harness.startSender();
    const request = message();
    await insertClaim(identity, request.idempotencyKey, "-1 second");
    const { messageId } = await send(request);
    expect(double.messages.map(({ headers }) => headers.get("message-id"))).toEqual([messageId]);
  });

  it("that somebody else holds is waited for", async () => {
    const { double, identity, send } = await harness.startSender();
    const request = message();
    await insertClaim(identity, request.idempotencyKey, "1 hour");
    const call = send(request);
    await harness.database.query(sql.unsafe`
      update integrations.email_sends set state = 'sent', rejected_positions = '{0}'
      where idempotency_key = ${request.idempotencyKey}
    `);
    expect(await call).toMatchObject({ accepted: [], rejected: ["bob@example.com"] });
    expect(double.messages).toHaveLength(0);
  });

  it("is forgotten after seven days", async () => {
    const { send } = await harness.startSender();
    const [old, young] = [message(), message()];
    await send(old);
    await send(young);
    await harness.database.query(sql.unsafe`
      update integrations.email_sends set created_at = now() - interval '8 days'
      where idempotency_key = ${old.idempotencyKey}
    `);
    expect(await deleteOldSends(harness.database, 100)).toBe(1);
    expect(await listKeys([old, young])).toEqual([young.idempotencyKey]);
  });

  it("leaves nothing of the message in the database or the log", async () => {
    const { send } = await harness.startSender({
      refuseRecipient: (address) =>
        address.includes("gone") ? { code: 550, text: `5.1.1 <${address}> unknown` } : undefined,
    });
    await send(message({ to: ["s3cret-bob@example.com", "s3cret-gone@example.com"] }));
    await send(message({ to: ["s3cret-gone@example.com"] })).catch(() => {});
    const rows = await harness.database.any(sql.type(z.object({ row: z.string() }))`
      select send::text as row from integrations.email_sends as send
    `);
    expect(rows.length).toBeGreaterThan(1);
    expect(JSON.stringify(rows)).not.toContain("s3cret");
    expect(harness.logged()).not.toContain("s3cret");
  });
});

async function listClaims(key: string) {
  return harness.database.any(sql.type(z.object({ claim: z.string(), until: z.number() }))`
    select claim, (extract(epoch from claimed_until) * 1000)::float8 as until
    from integrations.email_sends where idempotency_key = ${key}
  `);
}

async function insertClaim(identity: Identity, key: string, until: string): Promise<void> {
  await harness.database.query(sql.unsafe`
    insert into integrations.email_sends (
      company_id, idempotency_key, state, claim, claimed_until
    )
    values (${identity.companyId}, ${key}, 'sending', ${newUuid()}, now() + ${until}::interval)
  `);
}

async function listKeys(requests: readonly SendEmailRequest[]): Promise<string[]> {
  const keys = requests.map(({ idempotencyKey }) => idempotencyKey);
  const rows = await harness.database.any(sql.type(z.object({ key: z.string() }))`
    select idempotency_key as key from integrations.email_sends
    where idempotency_key = any(${sql.array(keys, "text")})
  `);
  return rows.map(({ key }) => key);
}
