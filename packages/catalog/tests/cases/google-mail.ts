import { uuidOf } from "../../src/uuid-of.ts";
import type { ActionCase, Exchange, ProviderCases } from "./action-case.ts";

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

function refusal(
  what: string,
  answer: { status: number; reason: string; state: string; message: string },
  failure: Partial<NonNullable<ActionCase["failure"]>> = {},
): ActionCase {
  const { status, reason, state, message } = answer;
  const errors = [{ message, domain: "global", reason }];
  return {
    action: "listLabels",
    what,
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/gmail/v1/users/me/labels" },
        answer: { status, body: { error: { code: status, message, errors, status: state } } },
      },
    ],
    failure: { status, code: reason, message, retryable: false, ...failure },
  };
}

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

const sending: readonly ActionCase[] = [
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

const reading: readonly ActionCase[] = [
  {
    action: "listMessages",
    what: "page by page",
    inputs: { q: "is:unread", labelIds: ["INBOX", "STARRED"], limit: 600 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/gmail/v1/users/me/messages",
          query: { q: "is:unread", labelIds: ["INBOX", "STARRED"], maxResults: "500" },
        },
        answer: { body: { messages: [{ id: "1", threadId: "1" }], nextPageToken: "0987" } },
      },
      {
        request: {
          method: "GET",
          path: "/gmail/v1/users/me/messages",
          query: {
            q: "is:unread",
            labelIds: ["INBOX", "STARRED"],
            maxResults: "500",
            pageToken: "0987",
          },
        },
        answer: { body: { messages: [{ id: "2", threadId: "1" }], resultSizeEstimate: 2 } },
      },
    ],
    output: {
      messages: [
        { id: "1", threadId: "1" },
        { id: "2", threadId: "1" },
      ],
      hasMore: false,
    },
  },
  {
    action: "listMessages",
    what: "without any",
    inputs: { q: "from:nobody@example.com" },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/gmail/v1/users/me/messages",
          query: { q: "from:nobody@example.com", maxResults: "100" },
        },
        answer: { body: { resultSizeEstimate: 0 } },
      },
    ],
    output: { messages: [], hasMore: false },
  },
  {
    action: "getMessage",
    inputs: { messageId: "m/1" },
    exchanges: [
      {
        request: { method: "GET", path: "/gmail/v1/users/me/messages/m%2F1" },
        answer: {
          body: {
            id: "m1",
            threadId: "t1",
            labelIds: ["INBOX"],
            snippet: "Grüße",
            payload: {
              mimeType: "multipart/mixed",
              filename: "",
              headers: [
                { name: "Received", value: "first" },
                { name: "Received", value: "second" },
                { name: "Subject", value: "Invoice" },
              ],
              body: { size: 0 },
              parts: [
                {
                  mimeType: "multipart/alternative",
                  filename: "",
                  body: { size: 0 },
                  parts: [
                    {
                      mimeType: "text/plain",
                      filename: "",
                      body: { size: 7, data: Buffer.from("Grüße").toString("base64url") },
                    },
                    {
                      mimeType: "text/html",
                      filename: "",
                      body: { size: 3, data: Buffer.from("<b>").toString("base64url") },
                    },
                  ],
                },
                {
                  mimeType: "text/plain",
                  filename: "notes.txt",
                  body: { attachmentId: "att1", size: 12 },
                },
              ],
            },
          },
        },
      },
    ],
    output: {
      id: "m1",
      threadId: "t1",
      labelIds: ["INBOX"],
      snippet: "Grüße",
      headers: { received: "first", subject: "Invoice" },
      text: "Grüße",
      html: "<b>",
      attachments: [
        { attachmentId: "att1", filename: "notes.txt", contentType: "text/plain", size: 12 },
      ],
    },
  },
  {
    action: "getMessage",
    what: "with some headers only",
    inputs: { messageId: "m1", format: "metadata", metadataHeaders: ["Subject", "From"] },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/gmail/v1/users/me/messages/m1",
          query: { format: "metadata", metadataHeaders: ["Subject", "From"] },
        },
        answer: {
          body: { id: "m1", payload: { headers: [{ name: "Subject", value: "Invoice" }] } },
        },
      },
    ],
    output: {
      id: "m1",
      headers: { subject: "Invoice" },
      text: null,
      html: null,
      attachments: [],
    },
  },
  {
    action: "getAttachment",
    inputs: { messageId: "m1", attachmentId: "../att?1" },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/gmail/v1/users/me/messages/m1/attachments/..%2Fatt%3F1",
        },
        answer: { body: { size: 3, data: "_-_-" } },
      },
    ],
    output: { size: 3, content: "/+/+" },
  },
  {
    action: "modifyMessage",
    inputs: { messageId: "m1", addLabelIds: ["STARRED"], removeLabelIds: ["UNREAD"] },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/gmail/v1/users/me/messages/m1/modify",
          json: { addLabelIds: ["STARRED"], removeLabelIds: ["UNREAD"] },
        },
        answer: { body: { id: "m1", threadId: "t1", labelIds: ["STARRED"] } },
      },
    ],
    output: { id: "m1", threadId: "t1", labelIds: ["STARRED"] },
  },
  {
    action: "modifyMessage",
    what: "with nothing to add",
    inputs: { messageId: "m1", addLabelIds: [], removeLabelIds: ["UNREAD"] },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/gmail/v1/users/me/messages/m1/modify",
          json: { removeLabelIds: ["UNREAD"] },
        },
        answer: { body: { id: "m1" } },
      },
    ],
    output: { id: "m1" },
  },
  {
    action: "modifyMessage",
    what: "with nothing at all",
    inputs: { messageId: "m1", addLabelIds: [], removeLabelIds: [] },
    exchanges: [],
    refused: "addLabelIds",
  },
  {
    action: "listLabels",
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/gmail/v1/users/me/labels" },
        answer: { body: { labels: [{ id: "INBOX", name: "INBOX", type: "system" }] } },
      },
    ],
    output: { labels: [{ id: "INBOX", name: "INBOX", type: "system" }] },
  },
];

const failures: readonly ActionCase[] = [
  refusal("of what is not there", {
    status: 404,
    reason: "notFound",
    state: "NOT_FOUND",
    message: "Requested entity was not found.",
  }),
  refusal(
    "too often, which Gmail says with status 403",
    {
      status: 403,
      reason: "userRateLimitExceeded",
      state: "PERMISSION_DENIED",
      message: "User Rate Limit Exceeded",
    },
    { retryable: true, limited: true, badCredentials: false },
  ),
  refusal(
    "with a token that is none",
    {
      status: 401,
      reason: "authError",
      state: "UNAUTHENTICATED",
      message: "Invalid Credentials",
    },
    { badCredentials: true },
  ),
  refusal(
    "without the right to do so",
    {
      status: 403,
      reason: "insufficientPermissions",
      state: "PERMISSION_DENIED",
      message: "Insufficient Permission",
    },
    { badCredentials: false },
  ),
];

export const googleMailCases: ProviderCases = {
  provider: "google-mail",
  fields: { emailAddress: "me@example.com" },
  credentials: { accessToken: "ya29.canary" },
  signature: { headers: { authorization: "Bearer ya29.canary" } },
  cases: [...sending, ...reading, ...failures],
};
