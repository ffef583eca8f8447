import { expect } from "@jest/globals";
import type { ProviderCases } from "./action-case.ts";

const ACCOUNT = "624e3e00-0000-0000-0000-08b7ad2ad0a1";
const ENVELOPE = "93be49ab-0000-0000-0000-f752070d71ec";
const TEMPLATE = "44d9e888-3d86-4186-8ee9-7071bc87a0da";
const PATH = `/accounts/${ACCOUNT}/envelopes`;
/** The id that the step's key gives. */
const TRANSACTION: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/);

const sent = {
  envelopeId: ENVELOPE,
  status: "sent",
  statusDateTime: "2026-11-22T10:00:00.0000000Z",
  uri: `/envelopes/${ENVELOPE}`,
};

/** Error codes as the reference spells them and as answers do, with the wait. */
const ENVELOPE_LIMITS = [
  ["Hourly_Envelope_Polling_Limit_Exceeded", 60_000],
  ["HOURLY_ENVELOPE_POLLING_LIMIT_EXCEEDED", 60_000],
  ["BURST_ENVELOPE_POLLING_LIMIT_EXCEEDED", 30_000],
  ["HOURLY_APIINVOCATION_ENVELOPE_LIMIT_EXCEEDED", 60_000],
  ["BURST_APIINVOCATION_ENVELOPE_LIMIT_EXCEEDED", 30_000],
] as const;

export const docusignCases: ProviderCases = {
  provider: "docusign",
  fields: { accountId: ACCOUNT, baseUri: "https://na4.docusign.net" },
  credentials: { accessToken: "eyJ0-canary", refreshToken: "eyJ1-canary" },
  signature: { headers: { authorization: "Bearer eyJ0-canary" } },
  cases: [
    {
      action: "createEnvelope",
      inputs: {
        emailSubject: "Please sign",
        documents: [
          { filename: "lease.PDF", content: "JVBERi0xLjcK" },
          { filename: "annex.docx", content: "UEsDBA==" },
        ],
        signers: [
          { email: "ada@example.com", name: "Ada Lovelace", routingOrder: "1" },
          { email: "bob@example.com", name: "Bob", recipientId: "2" },
        ],
        carbonCopies: [{ email: "eve@example.com", name: "Eve" }],
        status: "sent",
        envelopeDefinition: { notification: { useAccountDefaults: "true" } },
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: PATH,
            json: {
              emailSubject: "Please sign",
              status: "sent",
              notification: { useAccountDefaults: "true" },
              transactionId: TRANSACTION,
              documents: [
                {
                  documentId: "1",
                  name: "lease.PDF",
                  fileExtension: "pdf",
                  documentBase64: "JVBERi0xLjcK",
                },
                {
                  documentId: "2",
                  name: "annex.docx",
                  fileExtension: "docx",
                  documentBase64: "UEsDBA==",
                },
              ],
              recipients: {
                signers: [
                  {
                    recipientId: "1",
                    email: "ada@example.com",
                    name: "Ada Lovelace",
                    routingOrder: "1",
                  },
                  { recipientId: "2", email: "bob@example.com", name: "Bob" },
                ],
                carbonCopies: [{ recipientId: "3", email: "eve@example.com", name: "Eve" }],
              },
            },
          },
          answer: { status: 201, body: sent },
        },
      ],
      output: sent,
    },
    {
      action: "createEnvelopeFromTemplate",
      inputs: {
        templateId: TEMPLATE,
        templateRoles: [{ roleName: "Signer", email: "ada@example.com", name: "Ada" }],
        emailBlurb: "As discussed",
        status: "created",
        transactionId: "lease-17",
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: PATH,
            json: {
              templateId: TEMPLATE,
              templateRoles: [{ roleName: "Signer", email: "ada@example.com", name: "Ada" }],
              emailBlurb: "As discussed",
              status: "created",
              transactionId: "lease-17",
            },
          },
          answer: { status: 201, body: { ...sent, status: "created" } },
        },
      ],
      output: { ...sent, status: "created" },
    },
    {
      action: "createEnvelopeFromTemplate",
      what: "that is not there",
      inputs: {
        templateId: TEMPLATE,
        templateRoles: [{ roleName: "Signer", email: "ada@example.com", name: "Ada" }],
        status: "sent",
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: PATH,
            json: {
              templateId: TEMPLATE,
              templateRoles: [{ roleName: "Signer", email: "ada@example.com", name: "Ada" }],
              status: "sent",
              transactionId: TRANSACTION,
            },
          },
          answer: {
            status: 400,
            body: {
              errorCode: "TEMPLATE_ID_INVALID",
              message: "Invalid template ID.",
            },
          },
        },
      ],
      failure: {
        status: 400,
        code: "TEMPLATE_ID_INVALID",
        message: "Invalid template ID.",
        retryable: false,
        limited: false,
      },
    },
    {
      action: "getEnvelope",
      inputs: { envelopeId: ENVELOPE, include: ["recipients", "documents"] },
      exchanges: [
        {
          request: {
            method: "GET",
            path: `${PATH}/${ENVELOPE}`,
            query: { include: "recipients,documents" },
          },
          answer: { body: { envelopeId: ENVELOPE, status: "completed" } },
        },
      ],
      output: { envelopeId: ENVELOPE, status: "completed" },
    },
    {
      action: "getEnvelope",
      what: "by an id that climbs out of the path",
      inputs: { envelopeId: `${ENVELOPE}/../x?` },
      exchanges: [],
      refused: "envelopeId",
    },
    {
      action: "getEnvelope",
      what: "with a token that is no longer good",
      inputs: { envelopeId: ENVELOPE },
      exchanges: [
        {
          request: { method: "GET", path: `${PATH}/${ENVELOPE}` },
          answer: {
            status: 401,
            body: {
              errorCode: "AUTHORIZATION_INVALID_TOKEN",
              message: "The access token provided is expired, revoked or malformed.",
            },
          },
        },
      ],
      failure: {
        status: 401,
        code: "AUTHORIZATION_INVALID_TOKEN",
        message: "The access token provided is expired, revoked or malformed.",
        retryable: false,
        badCredentials: true,
      },
    },
    {
      action: "getEnvelope",
      what: "beyond the calls of an hour",
      inputs: { envelopeId: ENVELOPE },
      exchanges: [
        {
          request: { method: "GET", path: `${PATH}/${ENVELOPE}` },
          answer: {
            status: 400,
            headers: { "x-ratelimit-reset": "1" },
            body: {
              errorCode: "HOURLY_APIINVOCATION_LIMIT_EXCEEDED",
              message: "The maximum number of hourly API invocations has been exceeded.",
            },
          },
        },
      ],
      failure: {
        status: 400,
        code: "HOURLY_APIINVOCATION_LIMIT_EXCEEDED",
        message: "The maximum number of hourly API invocations has been exceeded.",
        retryable: true,
        limited: true,
        retryAfterMs: 0,
      },
    },
    {
      action: "getEnvelope",
      what: "beyond the calls of half a minute",
      inputs: { envelopeId: ENVELOPE },
      exchanges: [
        {
          request: { method: "GET", path: `${PATH}/${ENVELOPE}` },
          answer: {
            status: 400,
            headers: { "x-ratelimit-reset": "9999999999" },
            body: {
              errorCode: "BURST_APIINVOCATION_LIMIT_EXCEEDED",
              message: "The maximum number of burst API invocations has been exceeded.",
            },
          },
        },
      ],
      failure: {
        status: 400,
        code: "BURST_APIINVOCATION_LIMIT_EXCEEDED",
        message: "The maximum number of burst API invocations has been exceeded.",
        retryable: true,
        limited: true,
        retryAfterMs: 30_000,
      },
    },
    ...ENVELOPE_LIMITS.map(([errorCode, retryAfterMs]) => ({
      action: "getEnvelope",
      what: `too often for one envelope, for which no other call has to wait: ${errorCode}`,
      inputs: { envelopeId: ENVELOPE },
      exchanges: [
        {
          request: { method: "GET", path: `${PATH}/${ENVELOPE}` },
          answer: {
            status: 400,
            headers: { "x-ratelimit-reset": "9999999999" },
            body: { errorCode, message: "Too many calls for the envelope." },
          },
        },
      ],
      failure: {
        status: 400,
        code: errorCode,
        message: "Too many calls for the envelope.",
        retryable: true,
        limited: false,
        retryAfterMs,
      },
    })),
    {
      action: "listEnvelopes",
      inputs: {
        from_date: "2026-11-01",
        statuses: ["sent", "completed"],
        order_by: "last_modified",
        order: "desc",
        limit: 3,
      },
      exchanges: [
        {
          request: {
            method: "GET",
            path: PATH,
            query: {
              from_date: "2026-11-01",
              status: "sent,completed",
              order_by: "last_modified",
              order: "desc",
              start_position: "0",
              count: "3",
            },
          },
          answer: {
            body: {
              resultSetSize: "2",
              totalSetSize: "4",
              startPosition: "0",
              endPosition: "1",
              nextUri: `/accounts/${ACCOUNT}/envelopes?start_position=2`,
              envelopes: [{ envelopeId: "1" }, { envelopeId: "2" }],
            },
          },
        },
        {
          request: {
            method: "GET",
            path: PATH,
            query: {
              from_date: "2026-11-01",
              status: "sent,completed",
              order_by: "last_modified",
              order: "desc",
              start_position: "2",
              count: "1",
            },
          },
          answer: {
            body: { resultSetSize: "1", totalSetSize: "4", envelopes: [{ envelopeId: "3" }] },
          },
        },
      ],
      output: {
        envelopes: [{ envelopeId: "1" }, { envelopeId: "2" }, { envelopeId: "3" }],
        hasMore: true,
      },
    },
    {
      action: "listRecipients",
      inputs: { envelopeId: ENVELOPE, include_tabs: true },
      exchanges: [
        {
          request: {
            method: "GET",
            path: `${PATH}/${ENVELOPE}/recipients`,
            query: { include_tabs: "true" },
          },
          answer: {
            body: { signers: [{ recipientId: "1", status: "completed" }], recipientCount: "1" },
          },
        },
      ],
      output: { signers: [{ recipientId: "1", status: "completed" }], recipientCount: "1" },
    },
    {
      action: "voidEnvelope",
      inputs: { envelopeId: ENVELOPE, voidedReason: "The terms have changed." },
      exchanges: [
        {
          request: {
            method: "PUT",
            path: `${PATH}/${ENVELOPE}`,
            json: { status: "voided", voidedReason: "The terms have changed." },
          },
          answer: { body: { envelopeId: ENVELOPE } },
        },
      ],
      output: { envelopeId: ENVELOPE },
    },
  ],
};
