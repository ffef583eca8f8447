import { BASE_URL } from "./answer-body.ts";
import type { ProviderCases } from "./action-case.ts";

const RECORDS = "/services/rest/record/v1";
const SUITEQL = "/services/rest/query/v1/suiteql";
const HOST = "https://1234567-sb1.suitetalk.api.netsuite.com";

export const netsuiteCases: ProviderCases = {
  provider: "netsuite",
  fields: { accountId: "1234567_SB1" },
  credentials: { accessToken: "eyJr-canary", refreshToken: "eyJs-canary" },
  signature: { headers: { authorization: "Bearer eyJr-canary" } },
  cases: [
    {
      action: "createRecord",
      inputs: {
        recordType: "customer",
        record: { companyName: "My Company", subsidiary: { id: "1" } },
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${RECORDS}/customer`,
            json: { companyName: "My Company", subsidiary: { id: "1" } },
          },
          answer: { status: 204, headers: { location: `${HOST}${RECORDS}/customer/647` } },
        },
      ],
      output: { id: "647", location: `${HOST}${RECORDS}/customer/647` },
    },
    {
      action: "createRecord",
      what: "without a field that NetSuite demands",
      inputs: { recordType: "customer", record: { phone: "1" } },
      exchanges: [
        {
          request: { method: "POST", path: `${RECORDS}/customer`, json: { phone: "1" } },
          answer: {
            status: 400,
            body: {
              type: "https://www.rfc-editor.org/rfc/rfc9110.html#section-15.5.1",
              title: "Bad Request",
              status: 400,
              "o:errorDetails": [
                {
                  detail:
                    "Error while accessing a resource. Please enter value(s) for: Subsidiary.",
                  "o:errorCode": "USER_ERROR",
                },
              ],
            },
          },
        },
      ],
      failure: {
        status: 400,
        code: "USER_ERROR",
        message: "Error while accessing a resource. Please enter value(s) for: Subsidiary.",
        retryable: false,
        limited: false,
      },
    },
    {
      action: "createRecord",
      what: "of a type that climbs out of the path",
      inputs: { recordType: "../../query/v1/suiteql", record: { q: "SELECT 1" } },
      exchanges: [],
      refused: "recordType",
    },
    {
      action: "getRecord",
      inputs: {
        recordType: "salesOrder",
        id: "107",
        fields: ["tranId", "item"],
        expandSubResources: true,
      },
      exchanges: [
        {
          request: {
            method: "GET",
            path: `${RECORDS}/salesOrder/107`,
            query: { fields: "tranId,item", expandSubResources: "true" },
          },
          answer: { body: { id: "107", links: [], tranId: "SO107" } },
        },
      ],
      output: { id: "107", links: [], tranId: "SO107" },
    },
    {
      action: "getRecord",
      what: "by an id with a slash",
      inputs: { recordType: "salesOrder", id: "107/item?x" },
      exchanges: [],
      refused: "id",
    },
    {
      action: "getRecord",
      what: "with a token that is no longer good",
      inputs: { recordType: "salesOrder", id: "107" },
      exchanges: [
        {
          request: { method: "GET", path: `${RECORDS}/salesOrder/107` },
          answer: {
            status: 401,
            body: {
              title: "Unauthorized",
              status: 401,
              "o:errorDetails": [
                { detail: "Invalid login attempt.", "o:errorCode": "INVALID_LOGIN" },
              ],
            },
          },
        },
      ],
      failure: {
        status: 401,
        code: "INVALID_LOGIN",
        message: "Invalid login attempt.",
        retryable: false,
        badCredentials: true,
      },
    },
    {
      action: "updateRecord",
      inputs: {
        recordType: "salesOrder",
        id: "107",
        record: { memo: null, item: { items: [] } },
        replace: ["item"],
      },
      exchanges: [
        {
          request: {
            method: "PATCH",
            path: `${RECORDS}/salesOrder/107`,
            query: { replace: "item" },
            json: { memo: null, item: { items: [] } },
          },
          answer: { status: 204, headers: { location: `${HOST}${RECORDS}/salesOrder/107` } },
        },
      ],
      output: { id: "107", location: `${HOST}${RECORDS}/salesOrder/107` },
    },
    {
      action: "upsertRecord",
      what: "by an external id with signs of a path",
      inputs: { recordType: "customer", externalId: "a/../b?c", record: { lastName: "Smith" } },
      exchanges: [
        {
          request: {
            method: "PUT",
            path: `${RECORDS}/customer/eid:a%2F..%2Fb%3Fc`,
            json: { lastName: "Smith" },
          },
          answer: { status: 204, headers: { location: `${HOST}${RECORDS}/customer/648` } },
        },
      ],
      output: { id: "648", location: `${HOST}${RECORDS}/customer/648` },
    },
    {
      action: "transformRecord",
      inputs: { recordType: "salesOrder", id: "3", targetType: "invoice", record: { memo: "x" } },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${RECORDS}/salesOrder/3/!transform/invoice`,
            json: { memo: "x" },
          },
          answer: { status: 204, headers: { location: `${HOST}${RECORDS}/invoice/9` } },
        },
      ],
      output: { id: "9", location: `${HOST}${RECORDS}/invoice/9` },
    },
    {
      action: "transformRecord",
      what: "while too many calls are under way",
      inputs: { recordType: "salesOrder", id: "3", targetType: "invoice" },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${RECORDS}/salesOrder/3/!transform/invoice`,
            json: {},
          },
          answer: {
            status: 429,
            body: {
              title: "Too Many Requests",
              status: 429,
              "o:errorDetails": [
                {
                  detail: "Concurrent request limit exceeded. Request blocked.",
                  "o:errorCode": "CONCURRENCY_LIMIT_EXCEEDED",
                },
              ],
            },
          },
        },
      ],
      failure: {
        status: 429,
        code: "CONCURRENCY_LIMIT_EXCEEDED",
        message: "Concurrent request limit exceeded. Request blocked.",
        retryable: true,
        limited: true,
        retryAfterMs: 5_000,
      },
    },
    {
      action: "findRecords",
      what: "in two pages, whose values can't leave their quotes",
      inputs: {
        from: "customer",
        columns: ["id", "companyname"],
        where: [
          { field: "companyname", operator: "=", value: "O'Hara' OR '1'='1" },
          { field: "email", operator: "!=", value: null },
          { field: "isinactive", operator: "=", value: false },
          { field: "id", operator: "NOT IN", value: [1, 2] },
          { field: "datecreated", operator: ">=", value: "2026-11-01", type: "date" },
          { field: "lastmodifieddate", operator: "<", value: "2026-11-22T10:00:00", type: "date" },
        ],
        limit: 3,
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: SUITEQL,
            query: { limit: "3" },
            headers: { prefer: "transient" },
            json: {
              q:
                "SELECT id, companyname FROM customer WHERE companyname = 'O''Hara'' OR ''1''=''1'" +
                " AND email IS NOT NULL AND isinactive = 'F' AND id NOT IN (1, 2)" +
                " AND datecreated >= TO_DATE('2026-11-01', 'YYYY-MM-DD')" +
                " AND lastmodifieddate < TO_DATE('2026-11-22 10:00:00', 'YYYY-MM-DD HH24:MI:SS')" +
                " ORDER BY id ASC",
            },
          },
          answer: {
            body: {
              links: [
                { rel: "self", href: `${BASE_URL}${SUITEQL}?limit=3` },
                { rel: "next", href: `${BASE_URL}${SUITEQL}?limit=3&offset=2` },
              ],
              count: 2,
              hasMore: true,
              items: [{ id: "1" }, { id: "2" }],
              offset: 0,
              totalResults: 3,
            },
          },
        },
        {
          request: {
            method: "POST",
            path: SUITEQL,
            query: { limit: "3", offset: "2" },
            headers: { prefer: "transient" },
            json: {
              q:
                "SELECT id, companyname FROM customer WHERE companyname = 'O''Hara'' OR ''1''=''1'" +
                " AND email IS NOT NULL AND isinactive = 'F' AND id NOT IN (1, 2)" +
                " AND datecreated >= TO_DATE('2026-11-01', 'YYYY-MM-DD')" +
                " AND lastmodifieddate < TO_DATE('2026-11-22 10:00:00', 'YYYY-MM-DD HH24:MI:SS')" +
                " ORDER BY id ASC",
            },
          },
          answer: {
            body: {
              links: [{ rel: "self", href: `${BASE_URL}${SUITEQL}?limit=3&offset=2` }],
              items: [{ id: "3" }],
              hasMore: false,
            },
          },
        },
      ],
      output: { items: [{ id: "1" }, { id: "2" }, { id: "3" }], hasMore: false },
    },
    {
      action: "findRecords",
      what: "by a date that is none",
      inputs: {
        from: "customer",
        columns: ["id"],
        where: [{ field: "datecreated", operator: "=", value: "SYSDATE", type: "date" }],
      },
      exchanges: [],
      refused: "where",
    },
    {
      action: "findRecords",
      what: "of a table that is more than a name",
      inputs: { from: "customer; x", columns: ["id"] },
      exchanges: [],
      refused: "from",
    },
    {
      action: "runSuiteQL",
      inputs: { q: "SELECT id FROM customer ORDER BY id", limit: 2 },
      exchanges: [
        {
          request: {
            method: "POST",
            path: SUITEQL,
            query: { limit: "2" },
            headers: { prefer: "transient" },
            json: { q: "SELECT id FROM customer ORDER BY id" },
          },
          answer: {
            body: {
              links: [{ rel: "next", href: `${BASE_URL}${SUITEQL}?limit=2&offset=1` }],
              items: [{ id: "1" }],
              hasMore: true,
            },
          },
        },
        {
          request: {
            method: "POST",
            path: SUITEQL,
            query: { limit: "2", offset: "1" },
            headers: { prefer: "transient" },
            json: { q: "SELECT id FROM customer ORDER BY id" },
          },
          answer: {
            body: {
              links: [{ rel: "next", href: `${BASE_URL}${SUITEQL}?limit=2&offset=2` }],
              items: [{ id: "2" }],
              hasMore: true,
            },
          },
        },
      ],
      output: { items: [{ id: "1" }, { id: "2" }], hasMore: true },
    },
  ],
};
