import type { ProviderCases } from "./action-case.ts";

const record = {
  id: "512",
  properties: { email: "ada@example.com" },
  createdAt: "2026-11-22T10:00:00.000Z",
  updatedAt: "2026-11-22T10:00:00.000Z",
  archived: false,
};

function association(id: string, associationTypeId: number) {
  return { to: { id }, types: [{ associationCategory: "HUBSPOT_DEFINED", associationTypeId }] };
}

export const hubspotCases: ProviderCases = {
  provider: "hubspot",
  fields: {},
  credentials: { accessToken: "CJ-canary", refreshToken: "na1-canary" },
  signature: { headers: { authorization: "Bearer CJ-canary" } },
  cases: [
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
    {
      action: "createDeal",
      inputs: {
        dealname: "Engine",
        dealstage: "appointmentscheduled",
        amount: 1500.5,
        contactId: "51",
        companyId: "67",
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/crm/v3/objects/deals",
            json: {
              properties: {
                dealname: "Engine",
                dealstage: "appointmentscheduled",
                amount: "1500.5",
              },
              associations: [association("51", 3), association("67", 341)],
            },
          },
          answer: { status: 201, body: { ...record, properties: { dealname: "Engine" } } },
        },
      ],
      output: { ...record, properties: { dealname: "Engine" } },
    },
    {
      action: "createTicket",
      inputs: { subject: "No steam", hs_pipeline_stage: "1", companyId: "67" },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/crm/v3/objects/tickets",
            json: {
              properties: { subject: "No steam", hs_pipeline_stage: "1" },
              associations: [association("67", 339)],
            },
          },
          answer: { status: 201, body: { ...record, properties: { subject: "No steam" } } },
        },
      ],
      output: { ...record, properties: { subject: "No steam" } },
    },
    {
      action: "createNote",
      inputs: {
        hs_note_body: "Called.",
        hs_timestamp: "2026-11-22T10:00:00Z",
        contactId: "51",
        dealId: "9",
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/crm/v3/objects/notes",
            json: {
              properties: { hs_note_body: "Called.", hs_timestamp: "2026-11-22T10:00:00Z" },
              associations: [association("51", 202), association("9", 214)],
            },
          },
          answer: { status: 201, body: { ...record, properties: { hs_note_body: "Called." } } },
        },
      ],
      output: { ...record, properties: { hs_note_body: "Called." } },
    },
    {
      action: "getObject",
      what: "by a value with signs of a path",
      inputs: {
        objectType: "contacts",
        objectId: "ada/../?@example.com",
        idProperty: "email",
        propertyNames: ["email", "phone"],
        associations: ["companies", "deals"],
      },
      exchanges: [
        {
          request: {
            method: "GET",
            path: "/crm/v3/objects/contacts/ada%2F..%2F%3F%40example.com",
            query: {
              idProperty: "email",
              properties: "email,phone",
              associations: "companies,deals",
            },
          },
          answer: { body: record },
        },
      ],
      output: record,
    },
    {
      action: "getObject",
      what: "by a value that is a step up",
      inputs: { objectType: "contacts", objectId: ".." },
      exchanges: [],
      refused: "objectId",
    },
    {
      action: "getObject",
      what: "of a type with a slash",
      inputs: { objectType: "contacts/1", objectId: "2" },
      exchanges: [],
      refused: "objectType",
    },
    {
      action: "getObject",
      what: "with a token that has expired",
      inputs: { objectType: "contacts", objectId: "512" },
      exchanges: [
        {
          request: { method: "GET", path: "/crm/v3/objects/contacts/512" },
          answer: {
            status: 401,
            body: {
              status: "error",
              message: "The OAuth token used to make this call expired 9 second(s) ago.",
              category: "EXPIRED_AUTHENTICATION",
            },
          },
        },
      ],
      failure: {
        status: 401,
        code: "EXPIRED_AUTHENTICATION",
        message: "The OAuth token used to make this call expired 9 second(s) ago.",
        retryable: false,
        badCredentials: true,
      },
    },
    {
      action: "getObject",
      what: "without the right to",
      inputs: { objectType: "quotes", objectId: "512" },
      exchanges: [
        {
          request: { method: "GET", path: "/crm/v3/objects/quotes/512" },
          answer: {
            status: 403,
            body: {
              status: "error",
              message: "This app hasn't been granted all required scopes.",
              category: "MISSING_SCOPES",
            },
          },
        },
      ],
      failure: {
        status: 403,
        code: "MISSING_SCOPES",
        message: "This app hasn't been granted all required scopes.",
        retryable: false,
        badCredentials: false,
      },
    },
    {
      action: "updateObject",
      inputs: { objectType: "deals", objectId: "9", properties: { dealstage: "closedwon" } },
      exchanges: [
        {
          request: {
            method: "PATCH",
            path: "/crm/v3/objects/deals/9",
            json: { properties: { dealstage: "closedwon" } },
          },
          answer: { body: { ...record, properties: { dealstage: "closedwon" } } },
        },
      ],
      output: { ...record, properties: { dealstage: "closedwon" } },
    },
    {
      action: "searchObjects",
      inputs: {
        objectType: "contacts",
        query: "ada",
        filterGroups: [{ filters: [{ propertyName: "email", operator: "IN", values: ["a@b.c"] }] }],
        sorts: [{ propertyName: "createdate", direction: "DESCENDING" }],
        propertyNames: ["email"],
        limit: 3,
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/crm/v3/objects/contacts/search",
            json: {
              query: "ada",
              filterGroups: [
                { filters: [{ propertyName: "email", operator: "IN", values: ["a@b.c"] }] },
              ],
              sorts: [{ propertyName: "createdate", direction: "DESCENDING" }],
              properties: ["email"],
              limit: 3,
            },
          },
          answer: {
            body: {
              total: 4,
              results: [{ id: "1" }, { id: "2" }],
              paging: { next: { after: "2", link: "?after=2" } },
            },
          },
        },
        {
          request: {
            method: "POST",
            path: "/crm/v3/objects/contacts/search",
            json: {
              query: "ada",
              filterGroups: [
                { filters: [{ propertyName: "email", operator: "IN", values: ["a@b.c"] }] },
              ],
              sorts: [{ propertyName: "createdate", direction: "DESCENDING" }],
              properties: ["email"],
              limit: 1,
              after: "2",
            },
          },
          answer: {
            body: { total: 4, results: [{ id: "3" }], paging: { next: { after: "3" } } },
          },
        },
      ],
      output: { results: [{ id: "1" }, { id: "2" }, { id: "3" }], hasMore: true },
    },
    {
      action: "searchObjects",
      what: "too often",
      inputs: { objectType: "deals" },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/crm/v3/objects/deals/search",
            json: { limit: 100 },
          },
          answer: {
            status: 429,
            body: {
              status: "error",
              message: "You have reached your ten_secondly_rolling limit.",
              errorType: "RATE_LIMIT",
              correlationId: "c93e06a4-7d61-4c3e-b63f-edf486fc6e90",
              policyName: "TEN_SECONDLY_ROLLING",
            },
          },
        },
      ],
      failure: {
        status: 429,
        code: "TEN_SECONDLY_ROLLING",
        message: "You have reached your ten_secondly_rolling limit.",
        retryable: true,
        limited: true,
        retryAfterMs: 10_000,
      },
    },
    {
      action: "searchObjects",
      what: "beyond the calls of a day, for which waiting is no help",
      inputs: { objectType: "deals" },
      exchanges: [
        {
          request: {
            method: "POST",
            path: "/crm/v3/objects/deals/search",
            json: { limit: 100 },
          },
          answer: {
            status: 429,
            body: {
              status: "error",
              message: "You have reached your daily limit.",
              errorType: "RATE_LIMIT",
              policyName: "DAILY",
            },
          },
        },
      ],
      failure: {
        status: 429,
        code: "DAILY",
        message: "You have reached your daily limit.",
        retryable: false,
        limited: false,
      },
    },
    {
      action: "associateObjects",
      inputs: {
        fromObjectType: "contacts",
        fromObjectId: "51",
        toObjectType: "companies",
        toObjectId: "67",
      },
      exchanges: [
        {
          request: {
            method: "PUT",
            path: "/crm/v4/objects/contacts/51/associations/default/companies/67",
          },
          answer: { body: { status: "COMPLETE", results: [{ from: { id: "51" } }] } },
        },
      ],
      output: { status: "COMPLETE", results: [{ from: { id: "51" } }] },
    },
  ],
};
