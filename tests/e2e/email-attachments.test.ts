import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { startHttpDouble, startSmtpDouble } from "@workflow/testkit";
import type { HttpDouble, SmtpDouble } from "@workflow/testkit";
import { createActive, runToEnd } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import { mailStep, send } from "../support/email-steps.ts";

let system: WholeSystem;
let mail: SmtpDouble;

beforeAll(async () => {
  mail = await startSmtpDouble();
  system = await startWholeSystem({
    mail: { smtpUrl: mail.url, emailFrom: "Shop <shop@shop.example>", perDay: 100 },
  });
});
afterAll(async () => {
  await system.stop();
  await mail.close();
});
beforeEach(() => {
  mail.messages.length = 0;
});

describe("attachments", () => {
  let host: HttpDouble;
  const bytes = randomBytes(2 * 1024 * 1024);
  beforeAll(async () => {
    host = await startHttpDouble(({ path }) =>
      path.startsWith("/photo")
        ? { headers: { "content-type": "image/png" }, body: bytes }
        : { status: 404 },
    );
  });
  afterAll(() => host.close());

  /** The bytes of the attachments of the last message. */
  function attachedFiles(): Buffer[] {
    const raw = mail.messages.at(-1)?.raw ?? "";
    const boundary = /boundary="([^"]+)"/.exec(raw)?.[1] ?? "";
    return raw
      .split(`--${boundary}`)
      .slice(2, -1)
      .map((part) => Buffer.from(part.split("\r\n\r\n").slice(1).join("\r\n\r\n"), "base64"));
  }

  it("may be what an earlier step has fetched, and is by URL: the record shows no content", async () => {
    const fetchStep = {
      id: "fetch",
      type: "action",
      name: "fetch",
      action: "http.request",
      config: { method: "GET", url: `${host.url}/photo` },
    };
    const attachments = [
      { filename: "{{input.name}}.png", content: "{{steps.fetch.output.body}}" },
      { filename: "again.png", url: "{{input.url}}" },
      "{{input.note}}",
      "{{input.nothing}}",
    ];
    const steps = [fetchStep, mailStep({ to: "a@x.example", attachments })];
    const workflowId = await createActive(system, { steps });
    const note = { filename: "note.txt", content: "aGk=" };
    const input = { name: "Foto 写真", url: `${host.url}/photo?2`, note };
    const run = await runToEnd(system, workflowId, input);
    expect(run).toMatchObject({ status: "completed", output: { accepted: ["a@x.example"] } });
    // A comparison byte by byte would take half a minute.
    const contents = attachedFiles().map((each) => each.toString("base64"));
    expect(contents).toEqual(
      [bytes, bytes, Buffer.from("hi")].map((each) => each.toString("base64")),
    );
    expect(run.stepResults[1]?.input).toEqual({
      to: "a@x.example",
      subject: "Hello",
      text: "Hello",
      attachments: [
        { filename: "Foto 写真.png", content: "(2796204 characters of base64)" },
        { filename: "again.png", url: input.url },
        { filename: "note.txt", content: "(4 characters of base64)" },
        null,
      ],
    });
  });

  it.each<[string, object, object]>([
    [
      "no base64",
      { filename: "a.txt", content: "{{input.x}}" },
      { code: "INVALID_INPUT", message: expect.stringContaining("attachments.0.content") },
    ],
    [
      "a template that finds nothing",
      { filename: "a.txt", content: "{{input.none}}" },
      { code: "INVALID_INPUT", message: expect.stringContaining("attachments.0 has either") },
    ],
    [
      "a header in its name",
      { filename: "a{{input.crlf}}b", content: "" },
      { code: "INVALID_INPUT", message: expect.stringContaining("attachments.0.filename") },
    ],
    [
      "a URL that leads nowhere",
      { filename: "a.txt", url: "{{input.gone}}" },
      {
        code: "EMAIL_REJECTED",
        message: expect.stringContaining("status 404"),
        details: { problems: [{ path: ["attachments", "0", "url"] }] },
      },
    ],
  ])("of %s fails the step for good", async (_what, file, error) => {
    const input = { x: "no base64!", crlf: "\r\nBcc: eve@y.example\r\n", gone: `${host.url}/gone` };
    const run = await send(system, { to: "a@x.example", attachments: [file] }, input);
    expect(run).toMatchObject({ status: "failed", error });
    expect(run.stepResults[0]?.attempt).toBe(1);
    expect(mail.messages).toHaveLength(0);
  });
});
