import { describe, expect, it } from "@jest/globals";
import { callAction, checkInputs, findProviderAction, InvalidInputError } from "../src/index.ts";
import { formatMailAddress, parseMailAddress, parseMailAddresses } from "../src/mail-address.ts";

describe("an address", () => {
  it.each([
    ["ada@example.com", { wireAddress: "ada@example.com", name: "" }],
    [" Ada Lovelace <ada@example.com> ", { wireAddress: "ada@example.com", name: "Ada Lovelace" }],
    ['"Doe, \\"J\\"" <j@example.com>', { wireAddress: "j@example.com", name: 'Doe, "J"' }],
    [
      "ada@bücher.example",
      {
        address: "ada@bücher.example",
        wireAddress: "ada@xn--bcher-kva.example",
        name: "",
      },
    ],
  ])("%s is read", (text, address) => {
    expect(parseMailAddress(text)).toEqual({ address: address.wireAddress, ...address });
  });

  it.each([
    "ada",
    "@example.com",
    "ada@",
    "ada@-example.com",
    "ada@example.com, eve@example.com",
    "ada@example.com <eve@example.com> <x@example.com>",
    "group: ada@example.com;",
    '"ada eve"@example.com',
    "ada@[127.0.0.1]",
    "ada@example.com\nBcc: eve@example.com",
    `${"a".repeat(65)}@example.com`,
    `${"a".repeat(500)} <ada@example.com>`,
  ])("%s is none", (text) => {
    expect(parseMailAddress(text)).toBeNull();
  });

  it("is the same after it was written", () => {
    const mailbox = "j@example.com";
    const address = { address: mailbox, wireAddress: mailbox, name: 'Doe, "J" \\' };
    expect(parseMailAddress(formatMailAddress(address))).toEqual(address);
  });
});

describe("a list of addresses", () => {
  it("is split at commas outside names", () => {
    const both = [
      { address: "j@example.com", wireAddress: "j@example.com", name: "Doe, J" },
      { address: "ada@example.com", wireAddress: "ada@example.com", name: "" },
    ];
    expect(parseMailAddresses('"Doe, J" <j@example.com>, ada@example.com,')).toEqual(both);
    expect(parseMailAddresses(['"Doe, J" <j@example.com>', "ada@example.com"])).toEqual(both);
  });

  it.each([
    ["", null],
    [" , ", null],
    [[], null],
    ['"ada@example.com, eve@example.com', null],
    ["Ada <ada@example.com, eve@example.com>", null],
    [["ada@example.com, eve@example.com"], null],
    [[1], null],
    [{ to: "ada@example.com" }, null],
    [",".repeat(200_000), null],
  ])("%j is none", (value, expected) => {
    expect(parseMailAddresses(value)).toBe(expected);
  });
});

describe.each(["google-mail.sendMessage", "resend.sendEmail", "sendgrid.sendMail"])("%s", (id) => {
  const target = findProviderAction(id);
  if (target === undefined) throw new Error(`no action ${id}`);
  const inputs = {
    from: "a@acme.example",
    to: "ada@example.com",
    subject: "Hi",
    text: "Hello",
  };

  it("sends no attachment whose content was not fetched", async () => {
    const attachments = [{ filename: "a.pdf", url: "https://files.example/a.pdf" }];
    const withUrl = { ...inputs, attachments };
    expect(checkInputs(target.action, withUrl)).toEqual([]);
    const access = { fields: {}, credentials: { accessToken: "t", apiKey: "k" } };
    const call = callAction(target, { inputs: withUrl, access }, () =>
      Promise.reject(new Error("something was sent")),
    );
    await expect(call).rejects.toThrow(InvalidInputError);
  });

  it("takes attachments of 10 MiB", () => {
    const content = Buffer.alloc(10 * 1024 * 1024, 7).toString("base64");
    const attachments = [{ filename: "a.bin", content }];
    expect(checkInputs(target.action, { ...inputs, attachments })).toEqual([]);
  });

  it.each([5, {}, [5], ["ada"], "ada, eve"])("says of recipients that are none: %j", (to) => {
    expect(checkInputs(target.action, { ...inputs, to })).toEqual([
      { path: ["to"], message: expect.stringContaining("must be e-mail addresses") },
    ]);
  });

  it("names the field that holds too many recipients", () => {
    const to = Array.from({ length: 1_001 }, (_, index) => `p${index}@example.com`);
    expect(checkInputs(target.action, { ...inputs, to })).toMatchObject([{ path: ["to"] }]);
  });
});
