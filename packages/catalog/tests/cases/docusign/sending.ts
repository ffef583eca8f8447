import { expect } from "@jest/globals";
import type { ActionCase } from "../action-case.ts";
import { ENVELOPE, PATH } from "./envelope.ts";

const TEMPLATE = "44d9e888-3d86-4186-8ee9-7071bc87a0da";

/** The id that the step's key gives. */
const TRANSACTION: unknown = expect.stringMatching(/^[0-9a-f-]{36}$/);

const sent = {
  envelopeId: ENVELOPE,
  status: "sent",
  statusDateTime: "2026-11-22T10:00:00.0000000Z",
  uri: `/envelopes/${ENVELOPE}`,
};

/** Envelopes that are sent and voided. */
export const sending: readonly ActionCase[] = [
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
];
