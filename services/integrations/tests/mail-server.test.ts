import { createServer } from "node:net";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { freePort } from "@workflow/testkit";
import { executionPlane, FROM, message, startEmailHarness } from "./support/email-harness.ts";
import type { EmailHarness } from "./support/email-harness.ts";

let harness: EmailHarness;

beforeAll(async () => {
  harness = await startEmailHarness();
});

afterAll(async () => {
  await harness.close();
});

const SHORT = { connectMs: 1_000, greetingMs: 300, idleMs: 300 };

/** A TCP server that takes connections and never says a word. */
async function startSilentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `smtp://127.0.0.1:${port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

describe("the mail server", () => {
  it("is signed in to with the credentials of SMTP_URL", async () => {
    const credentials = { user: "mailer@shop.example", pass: "p@ss/w:rd" };
    const double = await harness.startServer({ credentials });
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
      const double = await harness.startServer({
        startTls: true,
        server: { secure: scheme === "smtps" },
      });
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
    const { double } = await harness.startSender();
    const smtpUrl = `${double.url}?requireTLS=true`;
    const client = await harness.start({ smtpUrl, emailFrom: FROM });
    await expect(client.sendEmail(message(), { identity: executionPlane() })).rejects.toMatchObject(
      { reason: "UPSTREAM_ERROR" },
    );
    expect(double.messages).toHaveLength(0);
  });

  it("may refuse some recipients, who are listed", async () => {
    const { double, send } = await harness.startSender({
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
    const { double, send } = await harness.startSender(options);
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
    const { double, send } = await harness.startSender({
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
    const silent = await startSilentServer();
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
    const double = await harness.startServer({ beforeReply: () => silence ?? Promise.resolve() });
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
    const { double, send } = await harness.startSender();
    await Promise.all(Array.from({ length: 30 }, () => send(message())));
    expect(double.messages).toHaveLength(30);
    expect(double.connections().most).toBeLessThanOrEqual(5);
  });
});
