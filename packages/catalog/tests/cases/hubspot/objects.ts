import type { ActionCase } from "../action-case.ts";
import { record } from "./record.ts";

/** Objects of any type: read, changed, searched. */
export const objects: readonly ActionCase[] = [
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
];
