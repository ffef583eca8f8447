import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { parseJsonText } from "@workflow/json";
import type { SendEmailRequest } from "@workflow/proto/integrations/v1/email";
import { startHttpDouble, startSmtpDouble } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble, SmtpDouble } from "@workflow/testkit";
import { runsOf, startActionsHarness } from "./support/actions-harness.ts";
import type { ActionsClient, ActionsHarness } from "./support/actions-harness.ts";
import { message } from "./support/email-harness.ts";

const MIB = 1024 * 1024;
const companyId = newUuid();
const CREDENTIALS = {
  resend: { apiKey: "re_canary_of_resend" },
  sendgrid: { apiKey: "SG.canary_of_sendgrid" },
  "google-mail": { accessToken: "ya29.canary_of_google" },
};
type Provider = keyof typeof CREDENTIALS;

/** What the providers answer when all is well. */
const TAKEN: Record<Provider, DoubleHandler> = {
  resend: () => ({ body: { id: "49a3999c-0ce1-4ea6-ab68-afcd6dc2e794" } }),
  sendgrid: () => ({ status: 202, headers: { "x-message-id": "14c5d75ce93.dfd.64b469" } }),
  "google-mail": () => ({ body: { id: "18c2f1a7b3d4e5f6", threadId: "t", labelIds: ["SENT"] } }),
};

let harness: ActionsHarness;
let client: ActionsClient;
let host: HttpDouble;
let smtp: SmtpDouble;
let provider: Provider = "resend";
let answer: DoubleHandler;

beforeAll(async () => {
  harness = await startActionsHarness();
  host = await startHttpDouble((request, response) => {
    if (request.path === "/file") return { headers: { "content-type": "image/png" }, body: "PNG" };
    return answer(request, response);
  });
  smtp = await startSmtpDouble();
  client = await harness.start({
    outboundAllowPrivate: true,
    mail: { smtpUrl: smtp.url, emailFrom: "Shop <shop@shop.example>", perDay: 5 },
    providers: new Map(Object.keys(CREDENTIALS).map((id) => [id, { baseUrl: host.url }])),
  });
});
beforeEach(() => {
  host.requests.length = 0;
  smtp.messages.length = 0;
  answer = (...exchange) => TAKEN[provider](...exchange);
});
afterAll(async () => {
  await harness.close();
  await host.close();
  await smtp.close();
});

function connect(of: Provider, more = {}): Promise<string> {
  provider = of;
  return harness.connect(companyId, { provider: of, credentials: CREDENTIALS[of], ...more });
}

const send = (more: Partial<SendEmailRequest>, company = companyId) =>
  client.sendEmail(message({ from: "Ada <ada@own.example>", ...more }), {
    identity: runsOf(company),
  });

/** The JSON of the last request. */
function sentJson(): Record<string, unknown> {
  const parsed = parseJsonText(host.requests.at(-1)?.body ?? "", "object");
  if (!parsed.ok) throw new Error(parsed.message);
  return Object.fromEntries(Object.entries(Object(parsed.value)));
}

const full = {
  to: ['"Müller, Jörg" <joerg@x.example>', "b@x.example"],
  cc: ["c@x.example", "b@x.example"],
  bcc: ["d@x.example"],
  replyTo: ["help@own.example"],
  subject: "Grüße",
  text: "plain",
  html: "<b>rich</b>",
  attachments: [
    {
      filename: "a;b.csv",
      contentType: "text/csv; charset=utf-8",
      source: { $case: "content" as const, value: Buffer.from("a;b") },
    },
  ],
};
const everyone = ["joerg@x.example", "b@x.example", "c@x.example", "d@x.example"];

describe("a message through a connection", () => {
  it("of resend has the shape of its API, with the idempotency key", async () => {
    const connectionId = await connect("resend");
    const idempotencyKey = newUuid();
    const response = await send({ ...full, connectionId, idempotencyKey });
    expect(response).toMatchObject({
      messageId: "49a3999c-0ce1-4ea6-ab68-afcd6dc2e794",
      accepted: everyone,
      rejected: [],
    });
    expect(host.requests).toMatchObject([
      {
        method: "POST",
        path: "/emails",
        idempotencyKey,
        headers: { authorization: "Bearer re_canary_of_resend" },
      },
    ]);
    expect(sentJson()).toEqual({
      from: '"Ada" <ada@own.example>',
      to: ['"Müller, Jörg" <joerg@x.example>', "b@x.example"],
      cc: ["c@x.example", "b@x.example"],
      bcc: ["d@x.example"],
      reply_to: ["help@own.example"],
      subject: "Grüße",
      text: "plain",
      html: "<b>rich</b>",
      attachments: [
        { filename: "a;b.csv", content: "YTti", content_type: "text/csv; charset=utf-8" },
      ],
    });
  });

  it("of sendgrid has the shape of its API: each address once, types without parameters", async () => {
    const connectionId = await connect("sendgrid");
    const response = await send({ ...full, connectionId });
    expect(response).toMatchObject({ messageId: "14c5d75ce93.dfd.64b469", accepted: everyone });
    expect(host.requests).toMatchObject([
      {
        method: "POST",
        path: "/v3/mail/send",
        headers: { authorization: "Bearer SG.canary_of_sendgrid" },
      },
    ]);
    expect(sentJson()).toEqual({
      personalizations: [
        {
          to: [{ email: "joerg@x.example", name: "Müller, Jörg" }, { email: "b@x.example" }],
          cc: [{ email: "c@x.example" }],
          bcc: [{ email: "d@x.example" }],
        },
      ],
      from: { email: "ada@own.example", name: "Ada" },
      reply_to: { email: "help@own.example" },
      subject: "Grüße",
      content: [
        { type: "text/plain", value: "plain" },
        { type: "text/html", value: "<b>rich</b>" },
      ],
      headers: { "Message-ID": expect.stringMatching(/^<[0-9a-f]{40}@own\.example>$/) },
      attachments: [
        { content: "YTti", filename: "a;b.csv", type: "text/csv", disposition: "attachment" },
      ],
    });
  });

  it("of google-mail is a message by RFC 5322 in base64url, recipients in bcc included", async () => {
    const connectionId = await connect("google-mail");
    const response = await send({ ...full, connectionId });
    expect(response).toMatchObject({ messageId: "18c2f1a7b3d4e5f6", accepted: everyone });
    expect(host.requests).toMatchObject([
      {
        method: "POST",
        path: "/gmail/v1/users/me/messages/send",
        headers: { authorization: "Bearer ya29.canary_of_google" },
      },
    ]);
    const { raw, ...rest } = sentJson();
    expect(rest).toEqual({});
    expect(raw).toMatch(/^[\w-]+$/);
    const mime = Buffer.from(String(raw), "base64url").toString();
    expect(mime).toContain("From: Ada <ada@own.example>\r\n");
    expect(mime).toContain("Cc: c@x.example, b@x.example\r\n");
    expect(mime).toContain("Bcc: d@x.example\r\n");
    expect(mime).toContain('filename="a;b.csv"');
    expect(mime).toContain("\r\n\r\nYTti\r\n");
    expect(mime).toMatch(/Message-ID: <[0-9a-f]{40}@own\.example>\r\n/);
  });

  it("of google-mail has no sender where the step names none: the account's is Google's to know", async () => {
    const connectionId = await connect("google-mail");
    await send({ connectionId, from: undefined });
    const mime = Buffer.from(String(sentJson()["raw"]), "base64url").toString();
    expect(mime).not.toMatch(/^From:/m);
  });

  it("of google-mail that is large goes to the upload address as it is", async () => {
    const connectionId = await connect("google-mail");
    const value = Buffer.alloc(10 * MIB, "x");
    const attachments = [
      { filename: "a.bin", contentType: undefined, source: { $case: "content" as const, value } },
    ];
    await send({ connectionId, attachments });
    const [request] = host.requests;
    expect(request).toMatchObject({
      method: "POST",
      path: "/upload/gmail/v1/users/me/messages/send?uploadType=media",
      headers: { "content-type": "message/rfc822" },
    });
    expect(request?.body).toContain("Content-Disposition: attachment; filename=a.bin\r\n");
    const encoded = request?.body.split("filename=a.bin\r\n\r\n")[1]?.split("\r\n--")[0];
    expect(Buffer.from(encoded ?? "", "base64").equals(value)).toBe(true);
  });

  it.each(["resend", "sendgrid"] as const)("of %s takes 10 MiB of attachments", async (of) => {
    const connectionId = await connect(of);
    const value = Buffer.alloc(10 * MIB);
    const attachments = [
      { filename: "a.bin", contentType: undefined, source: { $case: "content" as const, value } },
    ];
    await send({ connectionId, attachments });
    expect(sentJson()).toMatchObject({ attachments: [{ content: value.toString("base64") }] });
  });

  it("carries attachments by URL, which we fetch and not the provider", async () => {
    const connectionId = await connect("resend");
    const source = { $case: "url" as const, value: `${host.url}/file` };
    const attachments = [{ filename: "a.png", contentType: undefined, source }];
    await send({ connectionId, attachments });
    expect(sentJson()).toMatchObject({
      attachments: [{ filename: "a.png", content: "UE5H", content_type: "image/png" }],
    });
    expect(host.requests[0]?.headers).not.toHaveProperty("authorization");
  });

  it.each(["resend", "sendgrid", "google-mail"] as const)(
    "of %s is sent once for its key, and the answer is the same again",
    async (of) => {
      const connectionId = await connect(of);
      const request = { connectionId, idempotencyKey: newUuid() };
      const first = await send(request);
      answer = () => ({ body: { id: "another" } });
      expect(await send(request)).toEqual(first);
      expect(host.requests).toHaveLength(1);
    },
  );

  it("may come from any sender, and counts for nothing in EMAIL_PER_DAY", async () => {
    const connectionId = await connect("resend");
    for (let i = 0; i < 6; i += 1) await send({ connectionId, from: `a${i}@anything.example` });
    expect(host.requests).toHaveLength(6);
  });

  it.each(["resend", "sendgrid"] as const)("of %s needs a sender", async (of) => {
    const connectionId = await connect(of);
    await expect(send({ connectionId, from: undefined })).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["from"] }],
    });
    expect(host.requests).toHaveLength(0);
  });

  it.each(["resend", "sendgrid", "google-mail"] as const)(
    "of %s is checked as any other",
    async (of) => {
      const connectionId = await connect(of);
      const wrong = { connectionId, to: ["x"], subject: "a\r\nBcc: eve@evil.example" };
      await expect(send(wrong)).rejects.toMatchObject({
        reason: "BAD_REQUEST",
        violations: [{ path: ["to", "0"] }, { path: ["subject"] }],
      });
      expect(host.requests).toHaveLength(0);
    },
  );
});

describe("what the provider says", () => {
  it("of a message that it refuses is its last word, without credentials", async () => {
    const connectionId = await connect("resend");
    const request = { connectionId, idempotencyKey: newUuid() };
    answer = () => ({
      status: 422,
      body: {
        statusCode: 422,
        name: "validation_error",
        message: "The key re_canary_of_resend may not send as own.example.",
      },
    });
    const refused = {
      reason: "BAD_REQUEST",
      message: expect.stringMatching(/^Resend refused the message: /),
    };
    const error: unknown = await send(request).catch((e: unknown) => e);
    expect(error).toMatchObject(refused);
    expect(String(error)).toContain("may not send as own.example");
    expect(String(error)).not.toContain("canary");
    answer = TAKEN.resend;
    await expect(send(request)).rejects.toMatchObject(refused);
    expect(host.requests).toHaveLength(1);
    expect(harness.logged()).not.toContain("canary");
  });

  it.each<[string, DoubleHandler]>([
    ["that it is out of order", () => ({ status: 503, body: "<html>" })],
    ["nothing, and hangs up", (_, response) => void response.destroy()],
  ])("is %s: the same key may send later", async (_, given) => {
    const connectionId = await connect("sendgrid");
    const request = { connectionId, idempotencyKey: newUuid() };
    answer = given;
    await expect(send(request)).rejects.toMatchObject({ reason: "UPSTREAM_ERROR" });
    answer = TAKEN.sendgrid;
    expect(await send(request)).toMatchObject({ messageId: "14c5d75ce93.dfd.64b469" });
    const ids = host.requests.map(({ body }) => /"Message-ID":"([^"]+)"/.exec(body)?.[1]);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it("is that it is called too often: the connection is paused, and files are not fetched", async () => {
    const connectionId = await connect("resend");
    answer = () => ({
      status: 429,
      headers: { "retry-after": "60" },
      body: { name: "rate_limit" },
    });
    const first = await send({ connectionId });
    expect(first.pause?.waitMs).toBeGreaterThan(50_000);
    const source = { $case: "url" as const, value: `${host.url}/file` };
    const attachments = [{ filename: "a.png", contentType: undefined, source }];
    const second = await send({ connectionId, attachments });
    expect(second.pause?.waitMs).toBeGreaterThan(50_000);
    expect(host.requests).toHaveLength(1);
    // Another connection of the same company goes on.
    answer = TAKEN.resend;
    const other = await connect("resend");
    expect(await send({ connectionId: other })).toMatchObject({ pause: undefined });
  });

  it("is that the credentials are bad: the step fails and the connection is in error", async () => {
    const connectionId = await connect("sendgrid");
    answer = () => ({ status: 401, body: { errors: [{ message: "authorization required" }] } });
    const { failure } = await send({ connectionId });
    expect(failure).toMatchObject({ code: "CREDENTIALS_REFUSED", retryable: false });
    expect(await harness.statusOf({ companyId, connectionId })).toMatchObject({ status: "error" });
  });
});
