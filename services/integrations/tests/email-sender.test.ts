import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { SmtpDouble } from "@workflow/testkit";
import { executionPlane, FROM, message, startEmailHarness } from "./support/email-harness.ts";
import type { EmailClient, EmailHarness } from "./support/email-harness.ts";

let harness: EmailHarness;
let double: SmtpDouble;
let client: EmailClient;

beforeAll(async () => {
  harness = await startEmailHarness();
  double = await harness.startServer();
  client = await harness.start({
    smtpUrl: double.url,
    emailFrom: FROM,
    fromDomains: ["news.example", "xn--bcher-kva.example"],
  });
});
afterAll(async () => {
  await harness.close();
});

describe("without a connection (D61)", () => {
  it.each([
    ["the domain of EMAIL_FROM", "sales@shop.example", "sales@shop.example"],
    ["its domain in capitals", "sales@SHOP.Example", "sales@shop.example"],
    ["any name for people", '"The Bank, Ltd." <sales@shop.example>', "sales@shop.example"],
    ["a domain of EMAIL_FROM_DOMAINS", "weekly@news.example", "weekly@news.example"],
    ["one in its own script", "info@bücher.example", "info@bücher.example"],
    ["one in ASCII", "info@xn--bcher-kva.example", "info@bücher.example"],
  ])("a message may come from %s", async (_what, from, envelope) => {
    await client.sendEmail(message({ from }), { identity: executionPlane() });
    // The double shows domains in their own script.
    expect(double.messages.at(-1)?.from).toBe(envelope);
  });

  it.each([
    ["another domain", "ceo@bank.example"],
    ["a subdomain", "x@mail.shop.example"],
    ["the domain above", "x@example"],
    ["a longer name", "x@notshop.example"],
    ["a name with ours in front", "x@shop.example.evil.example"],
    ["ours as the name for people", '"orders@shop.example" <x@bank.example>'],
    ["ours in the local part", "orders=shop.example@bank.example"],
    ["a letter that only looks like ours", "x@shоp.example"],
  ])("a message may not come from %s", async (_what, from) => {
    const before = double.messages.length;
    const call = client.sendEmail(message({ from }), { identity: executionPlane() });
    await expect(call).rejects.toMatchObject({ reason: "FORBIDDEN", details: { field: "from" } });
    expect(double.messages).toHaveLength(before);
  });

  it("answers may go anywhere", async () => {
    await client.sendEmail(message({ replyTo: ["me@bank.example"] }), {
      identity: executionPlane(),
    });
    expect(double.messages.at(-1)?.headers.get("reply-to")).toBe("me@bank.example");
  });

  it("EMAIL_FROM_DOMAINS alone is enough for a message that names its sender", async () => {
    const other = await harness.start({ smtpUrl: double.url, fromDomains: ["news.example"] });
    const identity = executionPlane();
    await other.sendEmail(message({ from: "a@news.example" }), { identity });
    await expect(other.sendEmail(message(), { identity })).rejects.toMatchObject({
      reason: "NOT_CONFIGURED",
    });
  });
});
