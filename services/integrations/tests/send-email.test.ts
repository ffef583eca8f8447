import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { executionPlane, message, startEmailHarness } from "./support/email-harness.ts";
import type { EmailHarness } from "./support/email-harness.ts";

let harness: EmailHarness;

beforeAll(async () => {
  harness = await startEmailHarness();
});

afterAll(async () => {
  await harness.close();
});

describe("a message", () => {
  it("reaches everyone in to, cc and bcc, and shows nobody in bcc", async () => {
    const { double, send } = await harness.startSender();
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
    const { double, send } = await harness.startSender();
    await send(message());
    await send(message({ from: "Billing <bills@SHOP.example>" }));
    expect(double.messages.map(({ from }) => from)).toEqual([
      "orders@shop.example",
      "bills@shop.example",
    ]);
    expect(double.messages[1]?.headers.get("from")).toBe("Billing <bills@shop.example>");
    expect(double.messages[0]?.headers.get("from")).toBe("Order Desk <orders@shop.example>");
  });

  it("carries subjects, names, domains and bodies in any script", async () => {
    const { double, send } = await harness.startSender();
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
    const { double, send } = await harness.startSender();
    await send(message({ text: "plain words", html: "<b>bold words</b>" }));
    const [taken] = double.messages;
    expect(taken?.headers.get("content-type")).toMatch(/^multipart\/alternative/);
    expect(taken?.body).toContain("plain words");
    expect(taken?.body).toContain("<b>bold words</b>");
  });

  it("never takes a body for the name of a file or a page", async () => {
    const { double, send } = await harness.startSender();
    await send(message({ text: "/etc/passwd", html: "file:///etc/passwd" }));
    expect(double.messages[0]?.body).toContain("file:///etc/passwd");
    expect(double.messages[0]?.body).not.toContain("root:");
  });

  it("goes to a mailbox once that is named several times", async () => {
    const { double, send } = await harness.startSender();
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
    const { double, send } = await harness.startSender();
    await expect(send(message(more))).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: path.split(".") }],
    });
    expect(double.messages).toHaveLength(0);
    expect(double.connections().most).toBe(0);
  });

  it("needs the scope that only the execution plane has", async () => {
    const { client } = await harness.startSender();
    const identity = executionPlane(["internal:secrets"]);
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
    const double = await harness.startServer();
    const client = await harness.start({ smtpUrl: double.url });
    const identity = executionPlane();
    await expect(client.sendEmail(message(), { identity })).rejects.toMatchObject({
      reason: "NOT_CONFIGURED",
      message: expect.stringContaining("EMAIL_FROM"),
    });
    const named = client.sendEmail(message({ from: "me@shop.example" }), { identity });
    await expect(named).rejects.toMatchObject({
      reason: "NOT_CONFIGURED",
      message: expect.stringContaining("EMAIL_FROM"),
    });
    expect(double.messages).toHaveLength(0);
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
