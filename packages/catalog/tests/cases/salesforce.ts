import type { ProviderCases } from "./action-case.ts";
import { API, ID, salesforceQueries } from "./salesforce-queries.ts";

export const salesforceCases: ProviderCases = {
  provider: "salesforce",
  fields: { instanceUrl: "https://acme.my.salesforce.com" },
  credentials: { accessToken: "00D!canary", refreshToken: "5Aep!canary" },
  signature: { headers: { authorization: "Bearer 00D!canary" } },
  cases: [
    ...salesforceQueries,
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
