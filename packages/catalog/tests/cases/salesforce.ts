import type { ProviderCases } from "./action-case.ts";

const API = "/services/data/v67.0";
const ID = "001D000000INjVe";

export const salesforceCases: ProviderCases = {
  provider: "salesforce",
  fields: { instanceUrl: "https://acme.my.salesforce.com" },
  credentials: { accessToken: "00D!canary", refreshToken: "5Aep!canary" },
  signature: { headers: { authorization: "Bearer 00D!canary" } },
  cases: [
    {
      action: "createRecord",
      inputs: { sobject: "Account", record: { Name: "Acme", Region__c: "EU", Rating: null } },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${API}/sobjects/Account`,
            json: { Name: "Acme", Region__c: "EU", Rating: null },
          },
          answer: { status: 201, body: { id: ID, success: true, errors: [] } },
        },
      ],
      output: { id: ID, success: true, errors: [] },
    },
    {
      action: "createRecord",
      what: "without a field that Salesforce demands",
      inputs: { sobject: "Account", record: {} },
      exchanges: [
        {
          request: { method: "POST", path: `${API}/sobjects/Account`, json: {} },
          answer: {
            status: 400,
            body: [
              {
                message: "Required fields are missing: [Name]",
                errorCode: "REQUIRED_FIELD_MISSING",
                fields: ["Name"],
              },
            ],
          },
        },
      ],
      failure: {
        status: 400,
        code: "REQUIRED_FIELD_MISSING",
        message: "Required fields are missing: [Name]",
        retryable: false,
        limited: false,
        badCredentials: false,
      },
    },
    {
      action: "createRecord",
      what: "for an object that climbs out of the path",
      inputs: { sobject: "../../oauth2/revoke", record: {} },
      exchanges: [],
      refused: "sobject",
    },
    {
      action: "getRecord",
      inputs: { sobject: "Account", id: ID, fields: ["Id", "Name"] },
      exchanges: [
        {
          request: {
            method: "GET",
            path: `${API}/sobjects/Account/${ID}`,
            query: { fields: "Id,Name" },
          },
          answer: { body: { attributes: { type: "Account" }, Id: ID, Name: "Acme" } },
        },
      ],
      output: { attributes: { type: "Account" }, Id: ID, Name: "Acme" },
    },
    {
      action: "getRecord",
      what: "with a session that has ended",
      inputs: { sobject: "Account", id: ID },
      exchanges: [
        {
          request: { method: "GET", path: `${API}/sobjects/Account/${ID}` },
          answer: {
            status: 401,
            body: [{ message: "Session expired or invalid", errorCode: "INVALID_SESSION_ID" }],
          },
        },
      ],
      failure: {
        status: 401,
        code: "INVALID_SESSION_ID",
        message: "Session expired or invalid",
        retryable: false,
        badCredentials: true,
      },
    },
    {
      action: "getRecord",
      what: "by an id with a slash",
      inputs: { sobject: "Account", id: "001D000000INj/e" },
      exchanges: [],
      refused: "id",
    },
    {
      action: "updateRecord",
      inputs: { sobject: "Account", id: ID, record: { BillingCity: "Rome" } },
      exchanges: [
        {
          request: {
            method: "PATCH",
            path: `${API}/sobjects/Account/${ID}`,
            json: { BillingCity: "Rome" },
          },
          answer: { status: 204 },
        },
      ],
      output: { id: ID, success: true },
    },
    {
      action: "updateRecord",
      what: "while another holds the row",
      inputs: { sobject: "Account", id: ID, record: { BillingCity: "Rome" } },
      exchanges: [
        {
          request: {
            method: "PATCH",
            path: `${API}/sobjects/Account/${ID}`,
            json: { BillingCity: "Rome" },
          },
          answer: {
            status: 400,
            body: [
              { message: "unable to obtain exclusive access", errorCode: "UNABLE_TO_LOCK_ROW" },
            ],
          },
        },
      ],
      failure: {
        status: 400,
        code: "UNABLE_TO_LOCK_ROW",
        message: "unable to obtain exclusive access",
        retryable: true,
      },
    },
    {
      action: "upsertRecord",
      what: "by an external id with signs of a path",
      inputs: {
        sobject: "Account",
        externalIdField: "Number__c",
        externalId: "a/../b?c#d",
        record: { Name: "Acme" },
      },
      exchanges: [
        {
          request: {
            method: "PATCH",
            path: `${API}/sobjects/Account/Number__c/a%2F..%2Fb%3Fc%23d`,
            json: { Name: "Acme" },
          },
          answer: { status: 201, body: { id: ID, success: true, errors: [], created: true } },
        },
      ],
      output: { id: ID, success: true, errors: [], created: true },
    },
    {
      action: "upsertRecord",
      what: "by an external id that is a step up",
      inputs: { sobject: "Account", externalIdField: "N__c", externalId: "..", record: { A: 1 } },
      exchanges: [],
      refused: "externalId",
    },
    {
      action: "deleteRecord",
      inputs: { sobject: "Account", id: ID },
      exchanges: [
        {
          request: { method: "DELETE", path: `${API}/sobjects/Account/${ID}` },
          answer: { status: 204 },
        },
      ],
      output: { id: ID, success: true },
    },
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
            body: [
              { message: "TotalRequests Limit exceeded.", errorCode: "REQUEST_LIMIT_EXCEEDED" },
            ],
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
              sobjects: [
                { name: "Account", fields: ["Id", "Name"], limit: 5 },
                { name: "Contact" },
              ],
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
    {
      action: "createLead",
      inputs: { LastName: "Lovelace", Company: "Engines", record: { Region__c: "EU" } },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${API}/sobjects/Lead`,
            json: { LastName: "Lovelace", Company: "Engines", Region__c: "EU" },
          },
          answer: { status: 201, body: { id: "00QD000000INjVe", success: true, errors: [] } },
        },
      ],
      output: { id: "00QD000000INjVe", success: true, errors: [] },
    },
    {
      action: "createTask",
      inputs: { Subject: "Call", Priority: "High", ActivityDate: "2026-12-01", WhatId: ID },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${API}/sobjects/Task`,
            json: { Subject: "Call", Priority: "High", ActivityDate: "2026-12-01", WhatId: ID },
          },
          answer: { status: 201, body: { id: "00TD000000INjVe", success: true, errors: [] } },
        },
      ],
      output: { id: "00TD000000INjVe", success: true, errors: [] },
    },
  ],
};
