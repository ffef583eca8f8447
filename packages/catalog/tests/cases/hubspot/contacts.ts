import type { ActionCase } from "../action-case.ts";
import { record } from "./record.ts";

/** Contacts and companies. */
export const contacts: readonly ActionCase[] = [
  {
    action: "createContact",
    inputs: {
      email: "ada@example.com",
      firstname: "Ada",
      properties: { newsletter: true, score: 7, note: null },
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/crm/v3/objects/contacts",
          json: {
            properties: {
              email: "ada@example.com",
              firstname: "Ada",
              newsletter: "true",
              score: "7",
              note: "",
            },
          },
        },
        answer: { status: 201, body: record },
      },
    ],
    output: record,
  },
  {
    action: "createContact",
    what: "that is there already",
    inputs: { email: "ada@example.com" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/crm/v3/objects/contacts",
          json: { properties: { email: "ada@example.com" } },
        },
        answer: {
          status: 409,
          body: {
            status: "error",
            message: "Contact already exists. Existing ID: 512",
            correlationId: "aeb5f871-7f07-4993-9211-075dc63e7cbf",
            category: "CONFLICT",
          },
        },
      },
    ],
    failure: {
      status: 409,
      code: "CONFLICT",
      message: "Contact already exists. Existing ID: 512",
      retryable: false,
    },
  },
  {
    action: "createContact",
    what: "without a name and an address",
    inputs: { phone: "+39 06 1234" },
    exchanges: [],
    refused: "email",
  },
  {
    action: "upsertContact",
    inputs: { email: "ada@example.com", lifecyclestage: "customer" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/crm/v3/objects/contacts/batch/upsert",
          json: {
            inputs: [
              {
                idProperty: "email",
                id: "ada@example.com",
                properties: { lifecyclestage: "customer" },
              },
            ],
          },
        },
        answer: { body: { status: "COMPLETE", results: [{ ...record, new: false }] } },
      },
    ],
    output: { ...record, new: false },
  },
  {
    action: "upsertContact",
    what: "that fails within a batch that does not",
    inputs: { email: "ada@example.com", lifecyclestage: "nothing" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/crm/v3/objects/contacts/batch/upsert",
          json: {
            inputs: [
              {
                idProperty: "email",
                id: "ada@example.com",
                properties: { lifecyclestage: "nothing" },
              },
            ],
          },
        },
        answer: {
          status: 207,
          body: {
            status: "COMPLETE",
            results: [],
            numErrors: 1,
            errors: [
              {
                status: "error",
                category: "VALIDATION_ERROR",
                message: "nothing was not one of the allowed options",
              },
            ],
          },
        },
      },
    ],
    failure: {
      status: 207,
      code: "VALIDATION_ERROR",
      message: "nothing was not one of the allowed options",
      retryable: false,
    },
  },
  {
    action: "createCompany",
    inputs: { domain: "engines.example", name: "Engines" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/crm/v3/objects/companies",
          json: { properties: { domain: "engines.example", name: "Engines" } },
        },
        answer: { status: 201, body: { ...record, properties: { name: "Engines" } } },
      },
    ],
    output: { ...record, properties: { name: "Engines" } },
  },
];
