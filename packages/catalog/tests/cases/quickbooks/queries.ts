import type { ActionCase } from "../action-case.ts";
import { COMPANY, invoice, minorversion } from "./company.ts";

function many(count: number): { Id: string }[] {
  return Array.from({ length: count }, (_, index) => ({ Id: String(index) }));
}

/** Reading: queries, whose values stay values, and records by their id. */
export const queries: readonly ActionCase[] = [
  {
    action: "queryRecords",
    what: "in pages, whose values can't leave their quotes",
    inputs: {
      entity: "Invoice",
      where: [
        { field: "DocNumber", operator: "=", value: "1' or \\'x" },
        { field: "Balance", operator: ">", value: 0 },
        { field: "DueDate", operator: "<", value: "2026-11-22", type: "date" },
        { field: "CustomerRef", operator: "IN", value: ["1", "2"] },
      ],
      orderBy: "MetaData.CreateTime",
      direction: "DESC",
      limit: 3,
    },
    exchanges: [
      {
        request: {
          method: "GET",
          path: `${COMPANY}/query`,
          query: {
            minorversion,
            query:
              "select * from Invoice where DocNumber = '1\\' or \\\\\\'x' AND Balance > '0'" +
              " AND DueDate < '2026-11-22' AND CustomerRef IN ('1', '2')" +
              " orderby MetaData.CreateTime DESC STARTPOSITION 1 MAXRESULTS 4",
          },
        },
        answer: {
          body: {
            QueryResponse: {
              startPosition: 1,
              maxResults: 3,
              Invoice: [{ Id: "3" }, { Id: "2" }, { Id: "1" }],
            },
            time: "2026-11-22T02:00:00.000-08:00",
          },
        },
      },
    ],
    output: { records: [{ Id: "3" }, { Id: "2" }, { Id: "1" }], hasMore: false },
  },
  {
    action: "queryRecords",
    what: "of which there are none",
    inputs: { entity: "Vendor", limit: 5 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: `${COMPANY}/query`,
          query: { minorversion, query: "select * from Vendor STARTPOSITION 1 MAXRESULTS 6" },
        },
        answer: { body: { QueryResponse: {}, time: "2026-11-22T02:00:00.000-08:00" } },
      },
    ],
    output: { records: [], hasMore: false },
  },
  {
    action: "queryRecords",
    what: "by a field that is more than a name",
    inputs: {
      entity: "Vendor",
      where: [{ field: "Id > '0' and Id", operator: "=", value: "1" }],
    },
    exchanges: [],
    refused: "where",
  },
  {
    action: "queryRecords",
    what: "of an entity that is none",
    inputs: { entity: "Vendor maxresults 1" },
    exchanges: [],
    refused: "entity",
  },
  {
    action: "queryRecords",
    what: "with credentials that are no longer good",
    inputs: { entity: "Vendor", limit: 1 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: `${COMPANY}/query`,
          query: { minorversion, query: "select * from Vendor STARTPOSITION 1 MAXRESULTS 2" },
        },
        answer: {
          status: 401,
          body: {
            fault: {
              error: [
                {
                  message: "message=AuthenticationFailed; errorCode=003200; statusCode=401",
                  detail: "Token expired",
                  code: "3200",
                },
              ],
              type: "AUTHENTICATION",
            },
          },
        },
      },
    ],
    failure: {
      status: 401,
      code: "3200",
      message: "Token expired",
      retryable: false,
      badCredentials: true,
    },
  },
  {
    action: "queryRecords",
    what: "too often",
    inputs: { entity: "Vendor", limit: 1 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: `${COMPANY}/query`,
          query: { minorversion, query: "select * from Vendor STARTPOSITION 1 MAXRESULTS 2" },
        },
        answer: {
          status: 429,
          body: {
            fault: {
              error: [
                {
                  message: "message=ThrottleExceeded; errorCode=003001; statusCode=429",
                  code: "3001",
                },
              ],
              type: "THROTTLE",
            },
          },
        },
      },
    ],
    failure: {
      status: 429,
      code: "3001",
      message: "message=ThrottleExceeded; errorCode=003001; statusCode=429",
      retryable: true,
      limited: true,
      retryAfterMs: 60_000,
    },
  },
  {
    action: "getRecord",
    inputs: { entity: "Invoice", Id: "130" },
    exchanges: [
      {
        request: { method: "GET", path: `${COMPANY}/invoice/130`, query: { minorversion } },
        answer: { body: { Invoice: invoice, time: "2026-11-22T02:00:00.000-08:00" } },
      },
    ],
    output: invoice,
  },
  {
    action: "getRecord",
    what: "by an id with a slash",
    inputs: { entity: "Invoice", Id: "130/send?x" },
    exchanges: [],
    refused: "Id",
  },
  {
    action: "queryRecords",
    what: "in two pages",
    inputs: { entity: "Account", limit: 501 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: `${COMPANY}/query`,
          query: { minorversion, query: "select * from Account STARTPOSITION 1 MAXRESULTS 500" },
        },
        answer: { body: { QueryResponse: { Account: many(500), startPosition: 1 } } },
      },
      {
        request: {
          method: "GET",
          path: `${COMPANY}/query`,
          query: { minorversion, query: "select * from Account STARTPOSITION 501 MAXRESULTS 2" },
        },
        answer: { body: { QueryResponse: { startPosition: 501, maxResults: 0 } } },
      },
    ],
    output: { records: many(500), hasMore: false },
  },
  {
    action: "findCustomers",
    what: "in two pages",
    inputs: {
      DisplayName: "O'Hara%",
      Active: false,
      LastUpdatedTime: "2026-11-22T10:00:00Z",
      limit: 1000,
    },
    exchanges: [1, 501].map((start) => ({
      request: {
        method: "GET",
        path: `${COMPANY}/query`,
        query: {
          minorversion,
          query:
            "select * from Customer where DisplayName LIKE 'O\\'Hara%' AND Active = false" +
            " AND MetaData.LastUpdatedTime >= '2026-11-22T10:00:00Z'" +
            ` STARTPOSITION ${start} MAXRESULTS 500`,
        },
      },
      answer: { body: { QueryResponse: { Customer: many(start === 1 ? 500 : 2) } } },
    })),
    output: { records: [...many(500), ...many(2)], hasMore: false },
  },
];
