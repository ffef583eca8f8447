import type { ActionCase } from "./action-case.ts";

export const API = "/services/data/v67.0";
export const ID = "001D000000INjVe";

/** Queries and searches. */
export const salesforceQueries: readonly ActionCase[] = [
  {
    action: "findRecords",
    what: "whose values can't leave their quotes",
    inputs: {
      sobject: "Contact",
      fields: ["Id", "Account.Name"],
      where: [
        { field: "LastName", operator: "=", value: "O'Hara\\' OR Id != '\n" },
        { field: "Email", operator: "!=", value: null },
        { field: "Age__c", operator: "IN", value: [30, 40] },
        { field: "Active__c", operator: "=", value: true },
        { field: "CreatedDate", operator: ">", value: "2026-01-01T00:00:00Z", type: "date" },
        { field: "LastModifiedDate", operator: "=", value: "LAST_N_DAYS:7", type: "date" },
      ],
      orderBy: "CreatedDate",
      direction: "DESC",
      limit: 1,
    },
    exchanges: [
      {
        request: {
          method: "GET",
          path: `${API}/query`,
          query: {
            q:
              "SELECT Id, Account.Name FROM Contact WHERE LastName = 'O\\'Hara\\\\\\' OR Id != \\'\\n'" +
              " AND Email != null AND Age__c IN (30, 40) AND Active__c = true" +
              " AND CreatedDate > 2026-01-01T00:00:00Z AND LastModifiedDate = LAST_N_DAYS:7" +
              " ORDER BY CreatedDate DESC LIMIT 2",
          },
        },
        answer: { body: { totalSize: 2, done: true, records: [{ Id: "1" }, { Id: "2" }] } },
      },
    ],
    output: { records: [{ Id: "1" }], hasMore: true },
  },
  {
    action: "findRecords",
    what: "in two pages, since Salesforce makes them smaller for large records",
    inputs: { sobject: "Case", fields: ["Id"] },
    exchanges: [
      {
        request: {
          method: "GET",
          path: `${API}/query`,
          query: { q: "SELECT Id FROM Case LIMIT 101" },
        },
        answer: {
          body: {
            done: false,
            nextRecordsUrl: `${API}/query/01g-1`,
            records: [{ Id: "1" }],
          },
        },
      },
      {
        request: { method: "GET", path: `${API}/query/01g-1` },
        answer: { body: { done: true, records: [{ Id: "2" }] } },
      },
    ],
    output: { records: [{ Id: "1" }, { Id: "2" }], hasMore: false },
  },
  {
    action: "findRecords",
    what: "by a date that is none",
    inputs: {
      sobject: "Contact",
      fields: ["Id"],
      where: [{ field: "CreatedDate", operator: ">", value: "TODAY OR Id != ''", type: "date" }],
    },
    exchanges: [],
    refused: "where",
  },
  {
    action: "findRecords",
    what: "by a field that is more than a name",
    inputs: {
      sobject: "Contact",
      fields: ["Id"],
      where: [{ field: "Id != '' OR Id", operator: "=", value: "1" }],
    },
    exchanges: [],
    refused: "where",
  },
  {
    action: "findRecords",
    what: "of fields that are more than names",
    inputs: { sobject: "Contact", fields: ["Id, (SELECT Id FROM Cases)"] },
    exchanges: [],
    refused: "fields",
  },
  {
    action: "query",
    inputs: { q: "SELECT Id FROM Account", limit: 3 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: `${API}/query`,
          query: { q: "SELECT Id FROM Account" },
          headers: { "sforce-query-options": "batchSize=200" },
        },
        answer: {
          body: {
            totalSize: 4,
            done: false,
            nextRecordsUrl: `${API}/query/01gD0000002HU6KIAW-2`,
            records: [{ Id: "1" }, { Id: "2" }],
          },
        },
      },
      {
        request: { method: "GET", path: `${API}/query/01gD0000002HU6KIAW-2` },
        answer: { body: { totalSize: 4, done: true, records: [{ Id: "3" }, { Id: "4" }] } },
      },
    ],
    output: { records: [{ Id: "1" }, { Id: "2" }, { Id: "3" }], hasMore: true },
  },
  {
    action: "query",
    what: "beyond the company's calls of a day",
    inputs: { q: "SELECT Id FROM Account" },
    exchanges: [
      {
        request: { method: "GET", path: `${API}/query`, query: { q: "SELECT Id FROM Account" } },
        answer: {
          status: 403,
          body: [{ message: "TotalRequests Limit exceeded.", errorCode: "REQUEST_LIMIT_EXCEEDED" }],
        },
      },
    ],
    failure: {
      status: 403,
      code: "REQUEST_LIMIT_EXCEEDED",
      message: "TotalRequests Limit exceeded.",
      retryable: true,
      limited: true,
      badCredentials: false,
      retryAfterMs: 60_000,
    },
  },
  {
    action: "search",
    inputs: {
      q: "Acme {x}",
      sobjects: [{ name: "Account", fields: ["Id", "Name"], limit: 5 }, { name: "Contact" }],
      in: "NAME",
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: `${API}/parameterizedSearch`,
          json: {
            q: "Acme {x}",
            sobjects: [{ name: "Account", fields: ["Id", "Name"], limit: 5 }, { name: "Contact" }],
            in: "NAME",
            overallLimit: 100,
          },
        },
        answer: { body: { searchRecords: [{ Id: ID, Name: "Acme" }] } },
      },
    ],
    output: { searchRecords: [{ Id: ID, Name: "Acme" }] },
  },
  {
    action: "search",
    what: "in all objects",
    inputs: { q: "Acme", sobjects: [] },
    exchanges: [
      {
        request: {
          method: "POST",
          path: `${API}/parameterizedSearch`,
          json: { q: "Acme", overallLimit: 100 },
        },
        answer: { body: { searchRecords: [{ Id: ID }] } },
      },
    ],
    output: { searchRecords: [{ Id: ID }] },
  },
  {
    action: "search",
    what: "for fields without the object that they are of",
    inputs: { q: "Acme", sobjects: [{ fields: ["Id"] }] },
    exchanges: [],
    refused: "sobjects",
  },
  {
    action: "search",
    what: "with a condition of one's own, which could be more than that",
    inputs: { q: "Acme", sobjects: [{ name: "Account", where: "Name = 'x'" }] },
    exchanges: [],
    refused: "sobjects",
  },
];
