import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { EmailAttachment } from "@workflow/proto/integrations/v1/email";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { executionPlane, message, startEmailHarness } from "./support/email-harness.ts";
import type { EmailHarness, Sender } from "./support/email-harness.ts";

const MIB = 1024 * 1024;
let harness: EmailHarness;
let sender: Sender;
let host: HttpDouble;
/** What the host of the files does; by default it has a PDF of three bytes. */
let answer: DoubleHandler;

beforeAll(async () => {
  harness = await startEmailHarness();
  host = await startHttpDouble((request, response) => answer(request, response));
  sender = await harness.startSender({}, { outboundAllowPrivate: true });
});
beforeEach(() => {
  sender.double.messages.length = 0;
  host.requests.length = 0;
  answer = () => ({ headers: { "content-type": "application/pdf; x=y" }, body: "PDF" });
});
afterAll(async () => {
  await harness.close();
  await host.close();
});

const file = (content: string | Buffer, more: Partial<EmailAttachment> = {}): EmailAttachment => ({
  filename: "a.txt",
  contentType: undefined,
  source: { $case: "content", value: Buffer.from(content) },
  ...more,
});
const fileAt = (url: string, more: Partial<EmailAttachment> = {}): EmailAttachment => ({
  filename: "invoice.pdf",
  contentType: undefined,
  source: { $case: "url", value: url },
  ...more,
});
const send = (attachments: EmailAttachment[], more = {}) =>
  sender.send(message({ attachments, ...more }));

/** Headers and bytes of the parts of the last message that was taken. */
function partsOf(raw = sender.double.messages.at(-1)?.raw ?? "") {
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1];
  if (boundary === undefined) return [];
  return raw
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const [head = "", ...body] = part.trimStart().split("\r\n\r\n");
      const headers = head.replaceAll(/\r\n[ \t]+/g, " ").split("\r\n");
      return { headers, bytes: Buffer.from(body.join("\r\n\r\n"), "base64") };
    });
}

describe("an attachment", () => {
  it("goes with the message, byte for byte, under its name and type", async () => {
    const bytes = randomBytes(200_000);
    const csv = file("a;b", { filename: "Übersicht 支払い.csv", contentType: "text/csv" });
    await send([file(bytes, { filename: "photo.jpg" }), csv]);
    const [text, photo, table] = partsOf();
    expect(text?.headers).toContain("Content-Type: text/plain; charset=utf-8");
    expect(photo?.bytes.equals(bytes)).toBe(true);
    expect(photo?.headers).toEqual([
      "Content-Type: image/jpeg; name=photo.jpg",
      "Content-Transfer-Encoding: base64",
      "Content-Disposition: attachment; filename=photo.jpg",
    ]);
    expect(table?.bytes.toString()).toBe("a;b");
    expect(table?.headers[0]).toMatch(/^Content-Type: text\/csv; /);
    expect(table?.headers[2]).toContain("filename*0*=utf-8''%C3%9Cbersicht%20");
  });

  it("may be empty, and several together may have 10 MiB", async () => {
    await send([file(""), file(Buffer.alloc(6 * MIB)), file(Buffer.alloc(4 * MIB))]);
    expect(partsOf().map(({ bytes }) => bytes.length)).toEqual([
      expect.any(Number),
      0,
      6 * MIB,
      4 * MIB,
    ]);
  });

  it("named like a message is a file and no message within the message", async () => {
    await send([file("X-Evil: 1\r\n\r\nhello", { filename: "x.eml" })]);
    expect(partsOf()[1]?.headers).toEqual([
      "Content-Type: application/octet-stream; name=x.eml",
      "Content-Transfer-Encoding: base64",
      "Content-Disposition: attachment; filename=x.eml",
    ]);
    expect(sender.double.messages[0]?.raw).not.toContain("X-Evil");
  });

  const tooMany = Array.from({ length: 21 }, () => file(""));
  it.each<[string, EmailAttachment[], string]>([
    ["no name", [file("", { filename: " " })], "0.filename"],
    ["an overlong name", [file("", { filename: "x".repeat(256) })], "0.filename"],
    ["a header in its name", [file("", { filename: 'a"\r\nBcc: eve@evil.example' })], "0.filename"],
    ["a NUL in its name", [file("", { filename: "a\0.exe" })], "0.filename"],
    ["a folder in its name", [file(""), file("", { filename: "..\\a" })], "1.filename"],
    ["a header in its type", [file("", { contentType: "a/b\r\nX: y" })], "0.contentType"],
    ["a boundary of its own", [file("", { contentType: "multipart/mixed" })], "0.contentType"],
    ["a message for a type", [file("", { contentType: "MESSAGE/rfc822" })], "0.contentType"],
    ["a type that is none", [file("", { contentType: "pdf" })], "0.contentType"],
    ["neither content nor URL", [file("", { source: undefined })], "0"],
    ["an overlong URL", [fileAt(`https://x.example/${"x".repeat(8_200)}`)], "0.url"],
    ["20 beside it", tooMany, ""],
    ["others that make more than 10 MiB", [file(Buffer.alloc(10 * MIB)), file("x")], ""],
  ])("with %s is refused, naming the field, and nothing is sent", async (_, attachments, path) => {
    await expect(send(attachments)).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["attachments", ...path.split(".").filter(Boolean)] }],
    });
    expect(sender.double.messages).toHaveLength(0);
  });
});

describe("an attachment by URL", () => {
  it("is fetched when the message goes, with the type that the server says", async () => {
    answer = () => ({ headers: { "content-type": "application/pdf; x=y" }, body: "%PDF" });
    await send([fileAt(`${host.url}/i?token=s3cret`)]);
    expect(partsOf()[1]).toEqual({
      headers: [
        "Content-Type: application/pdf; name=invoice.pdf",
        "Content-Transfer-Encoding: base64",
        "Content-Disposition: attachment; filename=invoice.pdf",
      ],
      bytes: Buffer.from("%PDF"),
    });
    expect(host.requests).toMatchObject([{ method: "GET", path: "/i?token=s3cret" }]);
  });

  it.each([
    ["text/html\tx", "application/pdf"],
    ["multipart/mixed; boundary=x", "application/pdf"],
    ["message/rfc822", "application/pdf"],
    ["", "application/pdf"],
  ])("gets the type of its name when the server says %j", async (type, expected) => {
    answer = () => ({ headers: type === "" ? {} : { "content-type": type }, body: "x" });
    await send([fileAt(host.url)]);
    expect(partsOf()[1]?.headers[0]).toBe(`Content-Type: ${expected}; name=invoice.pdf`);
  });

  it("follows a redirect, and keeps the type that the step gives", async () => {
    answer = ({ path }) =>
      path === "/to" ? { body: "there" } : { status: 302, headers: { location: "/to" } };
    await send([fileAt(`${host.url}/from`, { contentType: "text/x-own" })]);
    expect(partsOf()[1]?.bytes.toString()).toBe("there");
    expect(partsOf()[1]?.headers[0]).toContain("text/x-own");
  });

  it("is not fetched again for a message that was sent", async () => {
    const request = message({ attachments: [fileAt(host.url)] });
    const first = await sender.send(request);
    expect(await sender.send(request)).toEqual(first);
    expect(host.requests).toHaveLength(1);
    expect(sender.double.messages).toHaveLength(1);
  });

  it.each<[string, () => ReturnType<DoubleHandler>, string]>([
    ["is not there", () => ({ status: 404 }), "status 404"],
    ["redirects for ever", () => ({ status: 302, headers: { location: "/" } }), "redirected more"],
    ["is larger than 10 MiB", () => ({ body: Buffer.alloc(10 * MIB + 1) }), "beyond 10 MiB"],
    [
      "says that it is larger",
      () => ({ headers: { "content-length": "10737418240" }, body: "" }),
      "beyond 10 MiB",
    ],
  ])("that %s refuses the message for good, naming the field", async (_, given, said) => {
    answer = given;
    const failure = send([file("x"), fileAt(host.url)]);
    await expect(failure).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      message: expect.stringContaining(said),
      violations: [{ path: ["attachments", "1", "url"] }],
    });
    expect(sender.double.messages).toHaveLength(0);
  });

  it("leaves no room for more than 10 MiB of all files together", async () => {
    answer = () => ({ body: Buffer.alloc(4 * MIB) });
    const files = [file(Buffer.alloc(3 * MIB)), fileAt(host.url), fileAt(host.url)];
    await expect(send(files)).rejects.toMatchObject({
      violations: [{ path: ["attachments", "2", "url"] }],
    });
  });

  it("never ending is cut off at 10 MiB", async () => {
    answer = async (_, response) => {
      response.writeHead(200);
      const piece = Buffer.alloc(256 * 1024);
      const closed = once(response, "close");
      while (!response.destroyed) {
        if (!response.write(piece)) await Promise.race([once(response, "drain"), closed]);
      }
    };
    await expect(send([fileAt(host.url)])).rejects.toMatchObject({ reason: "BAD_REQUEST" });
  });

  it.each<[string, () => ReturnType<DoubleHandler>]>([
    ["says 503", () => ({ status: 503 })],
    ["says 429", () => ({ status: 429 })],
  ])("whose server %s may be had later: the same key sends then", async (_, given) => {
    const request = message({ attachments: [fileAt(host.url)] });
    const fine = answer;
    answer = given;
    await expect(sender.send(request)).rejects.toMatchObject({ reason: "UPSTREAM_ERROR" });
    answer = fine;
    await sender.send(request);
    expect(partsOf()[1]?.bytes.toString()).toBe("PDF");
  });

  it("whose connection breaks may be had later, and nothing of its path is said", async () => {
    answer = (_, response) => void response.destroy();
    const error: unknown = await send([fileAt(`${host.url}/s3cret?s3cret`)]).catch((e) => e);
    expect(error).toMatchObject({ reason: "UPSTREAM_ERROR" });
    expect(String(error)).not.toContain("s3cret");
    expect(harness.logged()).not.toContain("s3cret");
  });
});

it("large attachments of one company wait for each other; those of another one go on", async () => {
  const { promise: reply, resolve: letReply } = Promise.withResolvers<void>();
  const busy = await harness.startSender(
    { beforeReply: () => reply },
    { outboundAllowPrivate: true },
  );
  answer = () => ({ body: Buffer.alloc(MIB) });
  const large = () => message({ attachments: [fileAt(host.url)] });
  const sends = Array.from({ length: 6 }, () => busy.send(large()));
  await waitFor(() => busy.double.connections().open === 2 && host.requests.length === 6);
  const identity = executionPlane();
  sends.push(
    busy.client.sendEmail(large(), { identity }),
    // Without attachments nobody waits.
    busy.send(message()),
  );
  await waitFor(() => busy.double.connections().open === 4);
  letReply();
  await Promise.all(sends);
  // Without a limit the mail server's five connections were all in use.
  expect(busy.double.connections().most).toBe(4);
  expect(busy.double.messages).toHaveLength(8);
});
