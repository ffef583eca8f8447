import { uuidOf } from "../../../src/uuid-of.ts";
import type { ActionCase, Exchange } from "../action-case.ts";

/** Splits a message at its first empty line, and its headers at their folds. */
function readRaw(raw: string): { headers: Record<string, string>; content: string } {
  const message = Buffer.from(raw, "base64url").toString("utf8");
  const end = message.indexOf("\r\n\r\n");
  const lines = message
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, " ")
    .split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { headers, content: message.slice(end + 4) };
}

/** Compares the message in a body; `null` is a header that must be absent. */
function expectMessage(
  readBody: (body: unknown) => { raw: string; rest: unknown },
  wanted: { rest: object; headers: Record<string, string | null>; content: readonly string[] },
): (body: string) => void {
  return (text) => {
    const { raw, rest } = readBody(JSON.parse(text));
    if (!/^[\w-]+$/.test(raw)) throw new Error("raw is not base64url");
    if (JSON.stringify(rest) !== JSON.stringify(wanted.rest)) {
      throw new Error(`beside raw there is ${JSON.stringify(rest)}`);
    }
    const { headers, content } = readRaw(raw);
    for (const [name, value] of Object.entries(wanted.headers)) {
      if ((headers[name] ?? null) !== value) throw new Error(`${name}: ${headers[name]}`);
    }
    for (const part of wanted.content) {
      if (!content.includes(part)) throw new Error(`not in the message: ${part}`);
    }
  };
}

const ofSending = (body: unknown) => {
  const { raw, ...rest } = Object(body);
  return { raw: String(raw), rest };
};

const ofDraft = (body: unknown) => ofSending(Object(body).message);

const sent: Exchange["answer"] = { body: { id: "m1", threadId: "t1", labelIds: ["SENT"] } };

const MESSAGE_ID = `<${uuidOf("run_1:step:1")}@acme.example>`;

const SEND = "/gmail/v1/users/me/messages/send";

/** Inputs that would each add a header, a recipient or a file of this machine. */
const refusedInputs: readonly (readonly [refused: string, inputs: object])[] = [
  ["subject", { subject: "Hi\r\nBcc: eve@example.com" }],
  ["to", { to: "ada@example.com\nBcc: eve@example.com" }],
  ["to", { to: ["ada@example.com", "eve"] }],
  ["cc", { cc: "Ada\r\nBcc: eve@example.com <ada@example.com>" }],
  ["from", { from: "Acme <a@b.example>, Eve <eve@example.com>" }],
  ["inReplyTo", { threadId: "t1", inReplyTo: "<1@example.com>\r\nBcc: eve@example.com" }],
  ["references", { threadId: "t1", references: "<1@example.com>\r\n <2@example.com>" }],
  ["attachments", { attachments: [{ filename: "a\r\nBcc: eve@example.com", content: "" }] }],
  [
    "attachments",
    {
      attachments: [{ filename: "a", content: "", contentType: "text/plain\r\nBcc: e@x.example" }],
    },
  ],
  ["attachments", { attachments: [{ filename: "a", path: "/etc/passwd" }] }],
  ["text", { text: "" }],
];

function refusedSending(
  [refused, inputs]: (typeof refusedInputs)[number],
  index: number,
): ActionCase {
  return {
    action: "sendMessage",
    what: `refuses ${refused} that is none (${index})`,
    inputs: { to: "ada@example.com", subject: "Hi", text: "Hello", ...inputs },
    exchanges: [],
    refused,
  };
}

/** Messages and drafts that are sent. */
export const sending: readonly ActionCase[] = [
  {
    action: "sendMessage",
    what: "with everything that a message has",
    inputs: {
      to: ['"Doe, J" <j@example.com>', "ada@example.com"],
      cc: "cc@example.com, cc2@example.com",
      bcc: "bcc@example.com",
      from: "Acme <billing@acme.example>",
      replyTo: "help@acme.example",
      subject: "Invoice 17: paid, thank you",
      text: "Paid",
      html: "<p>Paid</p>",
      attachments: [{ filename: "a.txt", content: "SGVsbG8=", contentType: "text/csv" }],
      threadId: "t1",
      inReplyTo: "<1@example.com>",
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: SEND,
          headers: { "content-type": "application/json" },
          text: expectMessage(ofSending, {
            rest: { threadId: "t1" },
            headers: {
              from: "Acme <billing@acme.example>",
              to: '"Doe, J" <j@example.com>, ada@example.com',
              cc: "cc@example.com, cc2@example.com",
              bcc: "bcc@example.com",
              "reply-to": "help@acme.example",
              subject: "Invoice 17: paid, thank you",
              "in-reply-to": "<1@example.com>",
              references: "<1@example.com>",
              "mime-version": "1.0",
              // The id depends on the step's idempotency key, so a second attempt has the same.
              "message-id": MESSAGE_ID,
            },
            content: [
              "Paid",
              "<p>Paid</p>",
              "Content-Type: text/csv; name=a.txt",
              "Content-Disposition: attachment; filename=a.txt",
              "SGVsbG8=",
            ],
          }),
        },
        answer: sent,
      },
    ],
    output: { id: "m1", threadId: "t1", labelIds: ["SENT"] },
  },
  {
    action: "sendMessage",
    what: "with what is a path, and text that looks like a header, as text alone",
    inputs: {
      to: "ada@example.com",
      subject: "Zahlung für 17",
      text: "/etc/passwd\r\nBcc: eve@example.com",
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: SEND,
          text: expectMessage(ofSending, {
            rest: {},
            headers: {
              from: null,
              to: "ada@example.com",
              bcc: null,
              "in-reply-to": null,
              subject: "=?UTF-8?Q?Zahlung_f=C3=BCr_17?=",
            },
            content: ["/etc/passwd\r\nBcc: eve@example.com"],
          }),
        },
        answer: sent,
      },
    ],
    output: { id: "m1", threadId: "t1", labelIds: ["SENT"] },
  },
  ...refusedInputs.map(refusedSending),
  {
    action: "createDraft",
    inputs: { to: "ada@example.com", subject: "Hi", html: "<p>Hello</p>", threadId: "t1" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/gmail/v1/users/me/drafts",
          text: expectMessage(ofDraft, {
            rest: { threadId: "t1" },
            headers: { to: "ada@example.com", "content-type": "text/html; charset=utf-8" },
            content: ["<p>Hello</p>"],
          }),
        },
        answer: { body: { id: "d1", message: { id: "m1", threadId: "t1" } } },
      },
    ],
    output: { id: "d1", message: { id: "m1", threadId: "t1" } },
  },
];
