import type { ActionCase, ProviderCases } from "./action-case.ts";

const ID = "4ef9a417-02e9-4d39-ad75-9611e0fcc33c";
const hello = { from: "a@acme.example", to: "ada@example.com", subject: "Hi", text: "Hello" };

function refusal(
  what: string,
  answer: { status: number; name: string; message: string; headers?: Record<string, string> },
  failure: Partial<NonNullable<ActionCase["failure"]>> = {},
): ActionCase {
  const { status, name, message, headers = {} } = answer;
  return {
    action: "sendEmail",
    what,
    inputs: hello,
    exchanges: [
      {
        request: { method: "POST", path: "/emails", json: { ...hello, to: ["ada@example.com"] } },
        answer: { status, headers, body: { statusCode: status, name, message } },
      },
    ],
    failure: { status, code: name, message, retryable: false, ...failure },
  };
}

const sending: readonly ActionCase[] = [
  {
    action: "sendEmail",
    inputs: {
      from: "Acme <billing@acme.example>",
      to: 'ada@example.com, "Doe, J" <j@example.com>',
      cc: ["cc@example.com"],
      bcc: "bcc@example.com",
      reply_to: "help@acme.example",
      subject: "Invoice 17",
      html: "<p>Paid</p>",
      attachments: [{ filename: "a.pdf", content: "JVBERg==", contentType: "application/pdf" }],
      headers: { "X-Entity-Ref-ID": "17" },
      tags: [{ name: "kind", value: "invoice" }],
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/emails",
          json: {
            from: "Acme <billing@acme.example>",
            to: ["ada@example.com", '"Doe, J" <j@example.com>'],
            cc: ["cc@example.com"],
            bcc: ["bcc@example.com"],
            reply_to: ["help@acme.example"],
            subject: "Invoice 17",
            html: "<p>Paid</p>",
            attachments: [
              { filename: "a.pdf", content: "JVBERg==", content_type: "application/pdf" },
            ],
            headers: { "X-Entity-Ref-ID": "17" },
            tags: [{ name: "kind", value: "invoice" }],
          },
        },
        answer: { body: { id: ID } },
      },
    ],
    output: { id: ID },
  },
  {
    action: "sendEmail",
    what: "by a template",
    inputs: {
      to: ["ada@example.com"],
      template_id: "order-confirmation",
      template_variables: { product: "Vintage Macintosh" },
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/emails",
          json: {
            to: ["ada@example.com"],
            template: { id: "order-confirmation", variables: { product: "Vintage Macintosh" } },
          },
        },
        answer: { body: { id: ID } },
      },
    ],
    output: { id: ID },
  },
  {
    action: "sendEmail",
    what: "by a template that has a text of its own",
    inputs: { to: "ada@example.com", template_id: "order-confirmation", text: "Not sent" },
    exchanges: [],
    refused: "text",
  },
  {
    action: "sendEmail",
    what: "without a text",
    inputs: { from: "a@acme.example", to: "ada@example.com", subject: "Hi" },
    exchanges: [],
    refused: "text",
  },
  {
    action: "sendEmail",
    what: "with a line break in an address",
    inputs: { ...hello, to: "ada@example.com\r\nBcc: eve@example.com" },
    exchanges: [],
    refused: "to",
  },
  {
    action: "sendEmail",
    what: "with a line break in a header",
    inputs: { ...hello, headers: { "X-Ref": "17\r\nBcc: eve@example.com" } },
    exchanges: [],
    refused: "headers",
  },
  {
    action: "sendBatchEmails",
    inputs: { emails: [hello, { ...hello, to: ["alan@example.com"] }] },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/emails/batch",
          text: (body) => {
            if (body !== JSON.stringify([hello, { ...hello, to: ["alan@example.com"] }])) {
              throw new Error(`not the e-mails that were given: ${body}`);
            }
          },
        },
        answer: { body: { data: [{ id: "1" }, { id: "2" }] } },
      },
    ],
    output: { data: [{ id: "1" }, { id: "2" }] },
  },
];

const others: readonly ActionCase[] = [
  {
    action: "sendBatchEmails",
    what: "of which one has no text",
    inputs: { emails: [hello, { from: "a@acme.example", to: "b@acme.example", subject: "Hi" }] },
    exchanges: [],
    refused: "emails",
  },
  {
    action: "getEmail",
    inputs: { email_id: ID },
    exchanges: [
      {
        request: { method: "GET", path: `/emails/${ID}` },
        answer: { body: { object: "email", id: ID, last_event: "delivered" } },
      },
    ],
    output: { object: "email", id: ID, last_event: "delivered" },
  },
  {
    action: "createContact",
    inputs: {
      email: "ada@example.com",
      first_name: "Ada",
      properties: { plan: "pro" },
      segments: ["s1", "s2"],
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/contacts",
          json: {
            email: "ada@example.com",
            first_name: "Ada",
            properties: { plan: "pro" },
            segments: [{ id: "s1" }, { id: "s2" }],
          },
        },
        answer: { status: 201, body: { object: "contact", id: ID } },
      },
    ],
    output: { object: "contact", id: ID },
  },
  {
    action: "listContacts",
    what: "page by page",
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/contacts", query: { limit: "100" } },
        answer: { body: { object: "list", has_more: true, data: [{ id: "1" }, { id: "2" }] } },
      },
      {
        request: { method: "GET", path: "/contacts", query: { limit: "98", after: "2" } },
        answer: { body: { object: "list", has_more: false, data: [{ id: "3" }] } },
      },
    ],
    output: { contacts: [{ id: "1" }, { id: "2" }, { id: "3" }], hasMore: false },
  },
  {
    action: "listContacts",
    what: "of a segment",
    inputs: { segment_id: "../s1?x", limit: 1 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/segments/..%2Fs1%3Fx/contacts",
          query: { limit: "1" },
        },
        answer: { body: { object: "list", has_more: false, data: [{ id: "1" }] } },
      },
    ],
    output: { contacts: [{ id: "1" }], hasMore: false },
  },
  {
    action: "listContacts",
    what: "of a segment that would be a step within the path",
    inputs: { segment_id: ".." },
    exchanges: [],
    refused: "segment_id",
  },
];

const failures: readonly ActionCase[] = [
  refusal("from a domain that is not verified", {
    status: 403,
    name: "validation_error",
    message: "The acme.example domain is not verified.",
  }),
  refusal(
    "too often",
    {
      status: 429,
      name: "rate_limit_exceeded",
      message: "Too many requests.",
      headers: { "ratelimit-remaining": "0", "ratelimit-reset": "1" },
    },
    { retryable: true, limited: true, retryAfterMs: 1_000 },
  ),
  ...["daily_quota_exceeded", "monthly_quota_exceeded"].map((name) =>
    refusal(
      `beyond a quota, for which waiting is no help: ${name}`,
      { status: 429, name, message: "Quota reached.", headers: { "ratelimit-reset": "1" } },
      { retryable: false, limited: false, badCredentials: false },
    ),
  ),
  refusal(
    "with a key that is none",
    { status: 403, name: "invalid_api_key", message: "API key is invalid" },
    { badCredentials: true },
  ),
  refusal(
    "with a key that may not do this, which is a good one",
    { status: 401, name: "restricted_api_key", message: "This API key is restricted" },
    { badCredentials: false },
  ),
  refusal(
    "while its first try is under way",
    { status: 409, name: "concurrent_idempotent_requests", message: "In progress." },
    { retryable: true },
  ),
];

export const resendCases: ProviderCases = {
  provider: "resend",
  fields: {},
  credentials: { apiKey: "re_canary" },
  signature: { headers: { authorization: "Bearer re_canary" } },
  cases: [...sending, ...others, ...failures],
};
