import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import type { SendEmailRequest } from "@workflow/proto/integrations/v1/email";
import type { Identity } from "@workflow/rpc";
import { freePort, startSmtpDouble, waitFor } from "@workflow/testkit";
import type { SmtpDouble, SmtpDoubleOptions } from "@workflow/testkit";
import { z } from "zod";
import { deleteOldSends } from "../src/store/email-sends.ts";
import { executionPlane, message, startEmailHarness } from "./support/email-harness.ts";
import type { EmailHarness } from "./support/email-harness.ts";

const FROM = "Order Desk <orders@shop.example>";
const SHORT = { connectMs: 1_000, greetingMs: 300, idleMs: 300 };

let harness: EmailHarness;
const doubles: SmtpDouble[] = [];

beforeAll(async () => {
  harness = await startEmailHarness();
});

afterAll(async () => {
  await harness.close();
});

afterEach(async () => {
  await Promise.all(doubles.splice(0).map((double) => double.close()));
});

/** A mail server, a service that uses it, and a company that sends. */
async function start(options: SmtpDoubleOptions = {}) {
  const double = await startSmtpDouble(options);
  doubles.push(double);
  const client = await harness.start({ smtpUrl: double.url, emailFrom: FROM });
  const identity = executionPlane();
  const send = (request: SendEmailRequest) => client.sendEmail(request, { identity });
  return { double, client, identity, send };
}

/** A TCP server in place of a mail server. */
async function listenTcp(onConnection: (server: Server) => void = () => {}) {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  onConnection(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("a message", () => {
  it("reaches everyone in to, cc and bcc, and shows nobody in bcc", async () => {
    const { double, send } = await start();
    const response = await send(
      message({
        to: ["Ada Lovelace <ada@example.com>", "bob@example.com"],
        cc: ["carol@example.com"],
        bcc: ["dan@example.com"],
        replyTo: ["Help <help@shop.example>"],
      }),
    );
    const [taken] = double.messages;
    const everyone = ["ada@example.com", "bob@example.com", "carol@example.com", "dan@example.com"];
    expect(taken?.to).toEqual(everyone);
    expect(taken?.raw).not.toContain("dan@");
    expect(taken?.headers.get("to")).toBe("Ada Lovelace <ada@example.com>, bob@example.com");
    expect(taken?.headers.get("cc")).toBe("carol@example.com");
    expect(taken?.headers.get("reply-to")).toBe("Help <help@shop.example>");
    expect(response).toEqual({
      messageId: taken?.headers.get("message-id"),
      accepted: everyone,
      rejected: [],
    });
  });

  it("comes from EMAIL_FROM unless it names a sender", async () => {
    const { double, send } = await start();
    await send(message());
    await send(message({ from: "Billing <bills@other.example>" }));
    expect(double.messages.map(({ from }) => from)).toEqual([
      "orders@shop.example",
      "bills@other.example",
    ]);
    expect(double.messages[0]?.headers.get("from")).toBe("Order Desk <orders@shop.example>");
  });

  it("carries subjects, names, domains and bodies in any script", async () => {
    const { double, send } = await start();
    const subject = "Überweisung — 支払い 🎉 für Sie, und zwar ein recht langer Betreff ohne Ende";
    const { accepted } = await send(
      message({ subject, to: ['"Müller, Jörg" <joerg@bücher.example>'], text: "Grüße: 世界" }),
    );
    const [taken] = double.messages;
    expect(taken?.headers.get("subject")).toBe(subject);
    expect(taken?.headers.get("to")).toContain("Müller, Jörg");
    expect(taken?.raw).toContain("<joerg@xn--bcher-kva.example>");
    expect(Buffer.from(taken?.body ?? "", "base64").toString()).toBe("Grüße: 世界");
    expect(accepted).toEqual(["joerg@bücher.example"]);
  });

  it("has both parts when text and html are given", async () => {
    const { double, send } = await start();
    await send(message({ text: "plain words", html: "<b>bold words</b>" }));
    const [taken] = double.messages;
    expect(taken?.headers.get("content-type")).toMatch(/^multipart\/alternative/);
    expect(taken?.body).toContain("plain words");
    expect(taken?.body).toContain("<b>bold words</b>");
  });

  it("never takes a body for the name of a file or a page", async () => {
    const { double, send } = await start();
    await send(message({ text: "/etc/passwd", html: "file:///etc/passwd" }));
    expect(double.messages[0]?.body).toContain("file:///etc/passwd");
    expect(double.messages[0]?.body).not.toContain("root:");
  });

  it("goes to a mailbox once that is named several times", async () => {
    const { double, send } = await start();
    const { accepted } = await send(
      message({ to: ["bob@example.com", "Bob <bob@EXAMPLE.com>"], bcc: ["bob@example.com"] }),
    );
    expect(double.messages[0]?.to).toEqual(["bob@example.com"]);
    expect(accepted).toEqual(["bob@example.com"]);
  });
});

describe("a request", () => {
  const tooMany = Array.from({ length: 51 }, (_, index) => `r${index}@example.com`);
  const mebibyte = "x".repeat(1024 * 1024);
  it.each([
    ["a line break in the subject", { subject: "Hi\r\nBcc: eve@evil.example" }, "subject"],
    ["a NUL in the subject", { subject: "Hi\0" }, "subject"],
    ["a subject over 998 characters", { subject: "x".repeat(999) }, "subject"],
    ["a line break in a name", { to: ["Bob\r\nBcc: eve@evil.example <bob@example.com>"] }, "to.0"],
    [
      "a line break in an address",
      { to: ["bob@example.com\r\nRCPT TO:<eve@evil.example>"] },
      "to.0",
    ],
    ["two addresses in one text", { to: ["bob@example.com, eve@evil.example"] }, "to.0"],
    ["a second address in the name", { to: ["eve@evil.example <a> <bob@example.com>"] }, "to.0"],
    ["a group", { to: ["all: bob@example.com;"] }, "to.0"],
    ["SMTP parameters", { cc: ["bob@example.com> SIZE=1 <x@y.example"] }, "cc.0"],
    ["an address without a domain", { bcc: ["bob@"] }, "bcc.0"],
    ["an address with a space", { to: ["bo b@example.com"] }, "to.0"],
    ["a domain that begins with a hyphen", { to: ["bob@-example.com"] }, "to.0"],
    ["an empty address", { to: [""] }, "to.0"],
    ["a bad sender", { from: "nobody" }, "from"],
    ["a bad address to answer to", { replyTo: ["x"] }, "replyTo.0"],
    ["no recipient", { to: [] }, "to"],
    ["51 recipients", { to: tooMany.slice(0, 20), cc: tooMany.slice(20) }, "to"],
    ["neither text nor html", { text: undefined }, "text"],
    ["more than 10 MiB", { text: mebibyte.repeat(6), html: mebibyte.repeat(5) }, "text"],
    ["no idempotency key", { idempotencyKey: "" }, "idempotencyKey"],
    ["an overlong idempotency key", { idempotencyKey: "k".repeat(501) }, "idempotencyKey"],
  ])("with %s is refused, naming the field, and nothing is sent", async (_, more, path) => {
    const { double, send } = await start();
    await expect(send(message(more))).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: path.split(".") }],
    });
    expect(double.messages).toHaveLength(0);
    expect(double.connections().most).toBe(0);
  });

  it("needs the scope that only the execution plane has", async () => {
    const { client } = await start();
    const identity = executionPlane(["workflows:execute"]);
    await expect(client.sendEmail(message(), { identity })).rejects.toMatchObject({
      reason: "FORBIDDEN",
    });
  });
});

describe("without settings", () => {
  it("the answer names SMTP_URL", async () => {
    const client = await harness.start({});
    const call = client.sendEmail(message(), { identity: executionPlane() });
    await expect(call).rejects.toMatchObject({
      reason: "NOT_CONFIGURED",
      message: expect.stringContaining("SMTP_URL"),
    });
  });

  it("the answer names EMAIL_FROM when the message has no sender either", async () => {
    const double = await startSmtpDouble();
    doubles.push(double);
    const client = await harness.start({ smtpUrl: double.url });
    const identity = executionPlane();
    await expect(client.sendEmail(message(), { identity })).rejects.toMatchObject({
      reason: "NOT_CONFIGURED",
      message: expect.stringContaining("EMAIL_FROM"),
    });
    await client.sendEmail(message({ from: "me@shop.example" }), { identity });
    expect(double.messages).toHaveLength(1);
  });

  it.each([
    ["SMTP_URL", { smtpUrl: "smtp://" }],
    ["SMTP_URL", { smtpUrl: "smtp://mail.example/?pool=true" }],
    ["SMTP_URL", { smtpUrl: "smtp://mail.example/?requireTLS=yes" }],
    ["SMTP_URL", { smtpUrl: "smtp://user:%zz@mail.example" }],
    ["EMAIL_FROM", { emailFrom: "nobody" }],
  ])("that are valid the service does not start: %s %j", async (setting, mail) => {
    await expect(harness.start(mail)).rejects.toThrow(setting);
  });
});

describe("the mail server", () => {
  it("is signed in to with the credentials of SMTP_URL", async () => {
    const credentials = { user: "mailer@shop.example", pass: "p@ss/w:rd" };
    const double = await startSmtpDouble({ credentials });
    doubles.push(double);
    const user = encodeURIComponent(credentials.user);
    const urlWith = (pass: string): string =>
      `smtp://${user}:${encodeURIComponent(pass)}@127.0.0.1:${double.port}`;
    const good = await harness.start({ smtpUrl: urlWith(credentials.pass), emailFrom: FROM });
    await good.sendEmail(message(), { identity: executionPlane() });
    expect(double.messages).toHaveLength(1);

    const bad = await harness.start({ smtpUrl: urlWith("wr0ng-pass"), emailFrom: FROM });
    const call = bad.sendEmail(message(), { identity: executionPlane() });
    await expect(call).rejects.toMatchObject({
      reason: "UPSTREAM_ERROR",
      message: "The mail server did not accept the credentials of SMTP_URL.",
    });
    expect(harness.logged()).not.toContain("wr0ng-pass");
    expect(harness.logged()).not.toContain(Buffer.from("wr0ng-pass").toString("base64"));
  });

  it.each(["smtp", "smtps"])(
    "gets nothing over %s when its certificate is not to be trusted, unless that is set",
    async (scheme) => {
      const double = await startSmtpDouble({
        startTls: true,
        server: { secure: scheme === "smtps" },
      });
      doubles.push(double);
      const url = `${scheme}://127.0.0.1:${double.port}`;
      const strict = await harness.start({ smtpUrl: url, emailFrom: FROM });
      await expect(
        strict.sendEmail(message(), { identity: executionPlane() }),
      ).rejects.toMatchObject({
        reason: "UPSTREAM_ERROR",
        message: "No secure connection to the mail server could be made.",
      });
      expect(double.messages).toHaveLength(0);

      const lax = await harness.start({
        smtpUrl: `${url}?tls.rejectUnauthorized=false`,
        emailFrom: FROM,
      });
      await lax.sendEmail(message(), { identity: executionPlane() });
      expect(double.messages).toHaveLength(1);
    },
  );

  it("gets nothing in the clear when requireTLS is set and it offers no TLS", async () => {
    const { double } = await start();
    const smtpUrl = `${double.url}?requireTLS=true`;
    const client = await harness.start({ smtpUrl, emailFrom: FROM });
    await expect(client.sendEmail(message(), { identity: executionPlane() })).rejects.toMatchObject(
      { reason: "UPSTREAM_ERROR" },
    );
    expect(double.messages).toHaveLength(0);
  });

  it("may refuse some recipients, who are listed", async () => {
    const { double, send } = await start({
      refuseRecipient: (address) =>
        address.startsWith("gone") ? { code: 550, text: "5.1.1 No such user" } : undefined,
    });
    const request = message({
      to: ["gone@example.com", "bob@example.com"],
      cc: ["gone2@a.example"],
    });
    const first = await send(request);
    expect(first).toMatchObject({
      accepted: ["bob@example.com"],
      rejected: ["gone@example.com", "gone2@a.example"],
    });
    expect(await send(request)).toEqual(first);
    expect(double.messages).toHaveLength(1);
  });

  it.each([
    ["every recipient", { refuseRecipient: () => ({ code: 550, text: "5.1.1 No such user" }) }],
    ["the content", { refuseMessage: () => ({ code: 554, text: "5.7.1 Spam" }) }],
  ])("may refuse %s for good, which the same key gives again", async (_, options) => {
    const { double, send } = await start(options);
    const request = message();
    await expect(send(request)).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      message: expect.stringMatching(/^The mail server refused the message: 55[04] 5\.\d\.1 \w+/),
    });
    const before = double.connections();
    await expect(send(request)).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      message: expect.stringMatching(/^The mail server refused the message: 55[04] 5\.\d\.1$/),
    });
    expect(double.connections()).toEqual(before);
    expect(double.messages).toHaveLength(0);
  });

  it("may refuse for now; the same message then goes out when asked again", async () => {
    let refusals = 0;
    const { double, send } = await start({
      refuseRecipient: () =>
        (refusals += 1) === 1 ? { code: 451, text: "4.7.1 Greylisted" } : undefined,
    });
    const request = message();
    await expect(send(request)).rejects.toMatchObject({
      reason: "UPSTREAM_ERROR",
      message: "The mail server refused for now: 451 4.7.1 Greylisted",
    });
    const { messageId } = await send(request);
    expect(double.messages.map(({ headers }) => headers.get("message-id"))).toEqual([messageId]);
  });

  it("may be away or never greet, which is a failure of its own and holds nobody up", async () => {
    const away = `smtp://127.0.0.1:${await freePort()}`;
    const silent = await listenTcp();
    for (const smtpUrl of [away, silent.url]) {
      const client = await harness.start({ smtpUrl, emailFrom: FROM, timeouts: SHORT });
      await expect(
        client.sendEmail(message(), { identity: executionPlane() }),
      ).rejects.toMatchObject({ reason: "UPSTREAM_ERROR" });
    }
    await silent.close();
  });

  it("may fall silent after the data, and the message goes out again under its Message-ID", async () => {
    let silence: Promise<void> | undefined = new Promise(() => {});
    const double = await startSmtpDouble({ beforeReply: () => silence ?? Promise.resolve() });
    doubles.push(double);
    const mail = { smtpUrl: double.url, emailFrom: FROM, timeouts: SHORT };
    const client = await harness.start(mail);
    const identity = executionPlane();
    const request = message();
    await expect(client.sendEmail(request, { identity })).rejects.toMatchObject({
      reason: "UPSTREAM_ERROR",
      message: "The mail server did not answer in time.",
    });
    silence = undefined;
    const { messageId } = await client.sendEmail(request, { identity });
    expect(double.messages.map(({ headers }) => headers.get("message-id"))).toEqual([messageId]);
  });

  it("is never held by more than five connections", async () => {
    const { double, send } = await start();
    await Promise.all(Array.from({ length: 30 }, () => send(message())));
    expect(double.messages).toHaveLength(30);
    expect(double.connections().most).toBeLessThanOrEqual(5);
  });
});

describe("an idempotency key", () => {
  it("sends once, however many ask at once and of whichever process", async () => {
    const { double, client, identity } = await start();
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
    const { double, client } = await start();
    const request = message();
    const one = await client.sendEmail(request, { identity: executionPlane() });
    const two = await client.sendEmail(request, { identity: executionPlane() });
    expect(double.messages).toHaveLength(2);
    expect(one.messageId).not.toBe(two.messageId);
  });

  it("is free again at once when the caller gave up in the middle", async () => {
    let asked = 0;
    const { double, client, identity, send } = await start({
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

  it("of a process that died while sending is taken over, with the same Message-ID", async () => {
    const { double, identity, send } = await start();
    const request = message();
    await insertClaim(identity, request.idempotencyKey, "-1 second");
    const { messageId } = await send(request);
    expect(double.messages.map(({ headers }) => headers.get("message-id"))).toEqual([messageId]);
  });

  it("that somebody else holds is waited for", async () => {
    const { double, identity, send } = await start();
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
    const { send } = await start();
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

  it("leaves nothing of the message in the database", async () => {
    const { send } = await start({
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
  });
});

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
