import type { ActionCase, ProviderCases } from "./action-case.ts";
import { BASE_URL } from "./answer-body.ts";

const hello = { from: "a@acme.example", to: "ada@example.com", subject: "Hi", text: "Hello" };
const helloBody = {
  personalizations: [{ to: [{ email: "ada@example.com" }] }],
  from: { email: "a@acme.example" },
  subject: "Hi",
  content: [{ type: "text/plain", value: "Hello" }],
};

function refusal(
  what: string,
  answer: { status: number; message: string; headers?: Record<string, string> },
  failure: Partial<NonNullable<ActionCase["failure"]>> = {},
): ActionCase {
  const { status, message, headers = {} } = answer;
  return {
    action: "sendMail",
    what,
    inputs: hello,
    exchanges: [
      {
        request: { method: "POST", path: "/v3/mail/send", json: helloBody },
        answer: { status, headers, body: { errors: [{ message, field: null, help: null }] } },
      },
    ],
    failure: { status, code: null, message, retryable: false, ...failure },
  };
}

export const sendgridCases: ProviderCases = {
  provider: "sendgrid",
  fields: {},
  credentials: { apiKey: "SG.canary" },
  signature: { headers: { authorization: "Bearer SG.canary" } },
  cases: [
    {
      action: "sendMail",
      inputs: {
        from: "Acme <billing@acme.example>",
        to: ["Ada <ada@example.com>", "alan@example.com"],
        cc: "ADA@example.com, cc@example.com",
        bcc: ["alan@example.com"],
        reply_to: "help@acme.example",
        subject: "Invoice 17",
        html: "<p>Paid</p>",
        text: "Paid",
        attachments: [{ filename: "a.pdf", content: "JVBERg==", contentType: "application/pdf" }],
        categories: ["invoices"],
        custom_args: { run: "17" },
        send_at: 1785931921,
        unsubscribe_group_id: 12,
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/v3/mail/send",
            json: {
              personalizations: [
                {
                  to: [{ email: "ada@example.com", name: "Ada" }, { email: "alan@example.com" }],
                  cc: [{ email: "cc@example.com" }],
                },
              ],
              from: { email: "billing@acme.example", name: "Acme" },
              reply_to: { email: "help@acme.example" },
              subject: "Invoice 17",
              content: [
                { type: "text/plain", value: "Paid" },
                { type: "text/html", value: "<p>Paid</p>" },
              ],
              attachments: [
                {
                  filename: "a.pdf",
                  content: "JVBERg==",
                  type: "application/pdf",
                  disposition: "attachment",
                },
              ],
              categories: ["invoices"],
              custom_args: { run: "17" },
              send_at: 1785931921,
              asm: { group_id: 12 },
            },
          },
          answer: { status: 202, headers: { "x-message-id": "14c5d75ce93.dfd.64b469" } },
        },
      ],
      output: { messageId: "14c5d75ce93.dfd.64b469" },
    },
    {
      action: "sendMail",
      what: "by a template",
      inputs: {
        from: "a@acme.example",
        to: "ada@example.com",
        template_id: "d-2e5b0c3f",
        dynamic_template_data: { name: "Ada" },
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/v3/mail/send",
            json: {
              personalizations: [
                { to: [{ email: "ada@example.com" }], dynamic_template_data: { name: "Ada" } },
              ],
              from: { email: "a@acme.example" },
              template_id: "d-2e5b0c3f",
            },
          },
          answer: { status: 202 },
        },
      ],
      output: { messageId: null },
    },
    {
      action: "sendMail",
      what: "by a template that has a text of its own",
      inputs: { ...hello, template_id: "d-2e5b0c3f" },
      exchanges: [],
      refused: "text",
    },
    {
      action: "sendMail",
      what: "without a subject",
      inputs: { from: "a@acme.example", to: "ada@example.com", text: "Hello" },
      exchanges: [],
      refused: "subject",
    },
    {
      action: "sendMail",
      what: "from what is no address",
      inputs: { ...hello, from: "Acme" },
      exchanges: [],
      refused: "from",
    },
    {
      action: "upsertContacts",
      inputs: {
        contacts: [{ email: "ada@example.com", first_name: "Ada" }],
        list_ids: ["33b9ff55-1c3a-4d6e-9a55-0a7c7d3b7b5e"],
      },
      exchanges: [
        {
          request: {
            method: "PUT",
            path: "/v3/marketing/contacts",
            json: {
              contacts: [{ email: "ada@example.com", first_name: "Ada" }],
              list_ids: ["33b9ff55-1c3a-4d6e-9a55-0a7c7d3b7b5e"],
            },
          },
          answer: { status: 202, body: { job_id: "8f2c" } },
        },
      ],
      output: { job_id: "8f2c" },
    },
    {
      action: "listContactLists",
      what: "page by page, by the address that each page names",
      inputs: { limit: 3 },
      exchanges: [
        {
          request: { method: "GET", path: "/v3/marketing/lists", query: { page_size: "3" } },
          answer: {
            body: {
              result: [{ id: "1", name: "One" }],
              _metadata: {
                next: `${BASE_URL}/v3/marketing/lists?page_size=3&page_token=t2`,
              },
            },
          },
        },
        {
          request: {
            method: "GET",
            path: "/v3/marketing/lists",
            query: { page_size: "3", page_token: "t2" },
          },
          answer: { body: { result: [{ id: "2", name: "Two" }], _metadata: { count: 2 } } },
        },
      ],
      output: {
        lists: [
          { id: "1", name: "One" },
          { id: "2", name: "Two" },
        ],
        hasMore: false,
      },
    },
    {
      action: "listBounces",
      what: "page by page",
      inputs: { start_time: 1767225600, limit: 502 },
      exchanges: [
        {
          request: {
            method: "GET",
            path: "/v3/suppression/bounces",
            query: { start_time: "1767225600", limit: "500", offset: "0" },
          },
          answer: { body: Array.from({ length: 500 }, () => ({ email: "x@example.com" })) },
        },
        {
          request: {
            method: "GET",
            path: "/v3/suppression/bounces",
            query: { start_time: "1767225600", limit: "3", offset: "500" },
          },
          answer: { body: [{ email: "last@example.com" }] },
        },
      ],
      output: {
        bounces: [
          ...Array.from({ length: 500 }, () => ({ email: "x@example.com" })),
          { email: "last@example.com" },
        ],
        hasMore: false,
      },
    },
    refusal("from a sender that is not verified", {
      status: 403,
      message: "The from address does not match a verified Sender Identity.",
    }),
    refusal(
      "too often",
      {
        status: 429,
        message: "too many requests",
        headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "0" },
      },
      { retryable: true, limited: true, retryAfterMs: 0 },
    ),
    ...[
      "Maximum credits exceeded",
      "Maximum credits exceeded.",
      " maximum credits exceeded: upgrade your plan",
    ].map((message) =>
      refusal(
        `without credits, which is no fault of the key and which no wait of a step brings back: ${message}`,
        { status: 401, message },
        { retryable: false, limited: false, badCredentials: false },
      ),
    ),
    refusal(
      "with a key that is none, in words that only begin alike",
      { status: 401, message: "Maximum credits exceededly" },
      { badCredentials: true },
    ),
    refusal(
      "with a key that is none",
      {
        status: 401,
        message: "The provided authorization grant is invalid, expired, or revoked",
      },
      { badCredentials: true },
    ),
  ],
};
