import type { ProviderCases } from "./action-case.ts";

const COMPANY = "/v3/company/9341453474484455";
const minorversion = "75";
const invoice = { Id: "130", SyncToken: "0", DocNumber: "1037", TotalAmt: 362.07, Balance: 362.07 };

function many(count: number): { Id: string }[] {
  return Array.from({ length: count }, (_, index) => ({ Id: String(index) }));
}

export const quickbooksCases: ProviderCases = {
  provider: "quickbooks",
  fields: { realmId: "9341453474484455" },
  credentials: { accessToken: "eyJ-canary", refreshToken: "AB1-canary" },
  signature: { headers: { authorization: "Bearer eyJ-canary" } },
  cases: [
    {
      action: "runReport",
      what: "with the parameters of this report alone",
      inputs: {
        reportType: "ProfitAndLoss",
        start_date: "2026-01-01",
        end_date: "2026-03-31",
        accounting_method: "Cash",
        summarize_column_by: "Month",
        customer: ["1", "2"],
        agency_id: "7",
        account: ["33"],
      },
      exchanges: [
        {
          request: {
            method: "GET",
            path: `${COMPANY}/reports/ProfitAndLoss`,
            query: {
              minorversion,
              start_date: "2026-01-01",
              end_date: "2026-03-31",
              accounting_method: "Cash",
              summarize_column_by: "Month",
              customer: "1,2",
            },
          },
          answer: {
            body: {
              Header: { ReportName: "ProfitAndLoss", ReportBasis: "Cash", Currency: "USD" },
              Columns: { Column: [{ ColTitle: "", ColType: "Account" }] },
              Rows: {
                Row: [
                  {
                    type: "Section",
                    group: "Income",
                    Rows: { Row: [{ type: "Data", ColData: [{ value: "Design", id: "82" }] }] },
                    Summary: { ColData: [{ value: "Total Income" }] },
                  },
                ],
              },
            },
          },
        },
      ],
      output: {
        Header: { ReportName: "ProfitAndLoss", ReportBasis: "Cash", Currency: "USD" },
        Columns: { Column: [{ ColTitle: "", ColType: "Account" }] },
        Rows: {
          Row: [
            {
              type: "Section",
              group: "Income",
              Rows: { Row: [{ type: "Data", ColData: [{ value: "Design", id: "82" }] }] },
              Summary: { ColData: [{ value: "Total Income" }] },
            },
          ],
        },
      },
    },
    {
      action: "runReport",
      what: "of a period by its name, with columns and order",
      inputs: {
        reportType: "GeneralLedger",
        date_macro: "Last Fiscal Quarter",
        columns: ["tx_date", "txn_type"],
        sort_by: "tx_date",
        sort_order: "descend",
        report_date: "2026-01-31",
      },
      exchanges: [
        {
          request: {
            method: "GET",
            path: `${COMPANY}/reports/GeneralLedger`,
            query: {
              minorversion,
              date_macro: "Last Fiscal Quarter",
              columns: "tx_date,txn_type",
              sort_by: "tx_date",
              sort_order: "descend",
            },
          },
          answer: { body: { Header: { ReportName: "GeneralLedger" }, Columns: {}, Rows: {} } },
        },
      ],
      output: { Header: { ReportName: "GeneralLedger" }, Columns: {}, Rows: {} },
    },
    {
      action: "runReport",
      what: "that this company does not have",
      inputs: { reportType: "ClassSales" },
      exchanges: [
        {
          request: {
            method: "GET",
            path: `${COMPANY}/reports/ClassSales`,
            query: { minorversion },
          },
          answer: {
            status: 400,
            body: {
              Fault: {
                Error: [
                  {
                    Message: "Permission Denied Error",
                    Detail: "Class tracking is not enabled",
                    code: "5020",
                    element: "ReportName",
                  },
                ],
                type: "ValidationFault",
              },
            },
          },
        },
      ],
      failure: {
        status: 400,
        code: "5020",
        message: "Class tracking is not enabled",
        retryable: false,
      },
    },
    {
      action: "runReport",
      what: "of taxes without the agency",
      inputs: { reportType: "TaxSummary" },
      exchanges: [],
      refused: "agency_id",
    },
    {
      action: "runReport",
      what: "by a name that is none",
      inputs: { reportType: "../query" },
      exchanges: [],
      refused: "reportType",
    },
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
    {
      action: "createCustomer",
      inputs: {
        DisplayName: "King's Groceries",
        PrimaryEmailAddr: "king@example.com",
        PrimaryPhone: "+1 555 0100",
        CurrencyRef: "USD",
        fields: { Taxable: true },
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${COMPANY}/customer`,
            query: { minorversion },
            json: {
              DisplayName: "King's Groceries",
              PrimaryEmailAddr: { Address: "king@example.com" },
              PrimaryPhone: { FreeFormNumber: "+1 555 0100" },
              CurrencyRef: { value: "USD" },
              Taxable: true,
            },
          },
          answer: { body: { Customer: { Id: "67", SyncToken: "0" }, time: "2026-11-22" } },
        },
      ],
      output: { Id: "67", SyncToken: "0" },
    },
    {
      action: "createCustomer",
      what: "whose name is taken",
      inputs: { DisplayName: "King's Groceries" },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${COMPANY}/customer`,
            query: { minorversion },
            json: { DisplayName: "King's Groceries" },
          },
          answer: {
            status: 400,
            body: {
              Fault: {
                Error: [
                  {
                    Message: "Duplicate Name Exists Error",
                    Detail: "The name supplied already exists. : null",
                    code: "6240",
                  },
                ],
                type: "ValidationFault",
              },
              time: "2026-11-22T02:00:00.000-08:00",
            },
          },
        },
      ],
      failure: {
        status: 400,
        code: "6240",
        message: "The name supplied already exists. : null",
        retryable: false,
      },
    },
    {
      action: "createInvoice",
      inputs: {
        CustomerRef: "1",
        Line: [
          {
            DetailType: "SalesItemLineDetail",
            Amount: 100,
            SalesItemLineDetail: { ItemRef: { value: "1" }, Qty: 2 },
          },
        ],
        DueDate: "2026-12-31",
        BillEmail: "king@example.com",
        CustomerMemo: "Thank you",
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${COMPANY}/invoice`,
            query: { minorversion },
            json: {
              CustomerRef: { value: "1" },
              Line: [
                {
                  DetailType: "SalesItemLineDetail",
                  Amount: 100,
                  SalesItemLineDetail: { ItemRef: { value: "1" }, Qty: 2 },
                },
              ],
              DueDate: "2026-12-31",
              BillEmail: { Address: "king@example.com" },
              CustomerMemo: { value: "Thank you" },
            },
          },
          answer: { body: { Invoice: invoice, time: "2026-11-22T02:00:00.000-08:00" } },
        },
      ],
      output: invoice,
    },
    {
      action: "createInvoice",
      what: "that QuickBooks refuses with status 200",
      inputs: { CustomerRef: "1", Line: [{ DetailType: "DescriptionOnly" }] },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${COMPANY}/invoice`,
            query: { minorversion },
            json: { CustomerRef: { value: "1" }, Line: [{ DetailType: "DescriptionOnly" }] },
          },
          answer: {
            body: {
              Fault: { Error: [{ Message: "A business validation error", code: "6000" }] },
            },
          },
        },
      ],
      failure: {
        status: 200,
        code: "6000",
        message: "A business validation error",
        retryable: false,
      },
    },
    {
      action: "sendInvoice",
      inputs: { Id: "130", sendTo: "king+1@example.com" },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${COMPANY}/invoice/130/send`,
            query: { minorversion, sendTo: "king+1@example.com" },
            headers: { "content-type": "application/octet-stream" },
          },
          answer: { body: { Invoice: { ...invoice, EmailStatus: "EmailSent" } } },
        },
      ],
      output: { ...invoice, EmailStatus: "EmailSent" },
    },
    {
      action: "createPayment",
      inputs: {
        CustomerRef: "20",
        TotalAmt: 55,
        Line: [{ Amount: 55, LinkedTxn: [{ TxnId: "69", TxnType: "Invoice" }] }],
        DepositToAccountRef: "35",
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${COMPANY}/payment`,
            query: { minorversion },
            json: {
              CustomerRef: { value: "20" },
              TotalAmt: 55,
              Line: [{ Amount: 55, LinkedTxn: [{ TxnId: "69", TxnType: "Invoice" }] }],
              DepositToAccountRef: { value: "35" },
            },
          },
          answer: { body: { Payment: { Id: "163", TotalAmt: 55, UnappliedAmt: 0 } } },
        },
      ],
      output: { Id: "163", TotalAmt: 55, UnappliedAmt: 0 },
    },
    {
      action: "createBill",
      inputs: {
        VendorRef: "56",
        Line: [
          {
            DetailType: "AccountBasedExpenseLineDetail",
            Amount: 200,
            AccountBasedExpenseLineDetail: { AccountRef: { value: "7" } },
          },
        ],
        DocNumber: "A-17",
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${COMPANY}/bill`,
            query: { minorversion },
            json: {
              VendorRef: { value: "56" },
              Line: [
                {
                  DetailType: "AccountBasedExpenseLineDetail",
                  Amount: 200,
                  AccountBasedExpenseLineDetail: { AccountRef: { value: "7" } },
                },
              ],
              DocNumber: "A-17",
            },
          },
          answer: { body: { Bill: { Id: "151", TotalAmt: 200, Balance: 200 } } },
        },
      ],
      output: { Id: "151", TotalAmt: 200, Balance: 200 },
    },
    {
      action: "createJournalEntry",
      inputs: {
        Line: [
          {
            DetailType: "JournalEntryLineDetail",
            Amount: 100,
            JournalEntryLineDetail: { PostingType: "Debit", AccountRef: { value: "39" } },
          },
          {
            DetailType: "JournalEntryLineDetail",
            Amount: 100,
            JournalEntryLineDetail: { PostingType: "Credit", AccountRef: { value: "44" } },
          },
        ],
        Adjustment: true,
        PrivateNote: "Accrual",
      },
      exchanges: [
        {
          request: {
            method: "POST",
            path: `${COMPANY}/journalentry`,
            query: { minorversion },
            json: {
              Line: [
                {
                  DetailType: "JournalEntryLineDetail",
                  Amount: 100,
                  JournalEntryLineDetail: { PostingType: "Debit", AccountRef: { value: "39" } },
                },
                {
                  DetailType: "JournalEntryLineDetail",
                  Amount: 100,
                  JournalEntryLineDetail: { PostingType: "Credit", AccountRef: { value: "44" } },
                },
              ],
              Adjustment: true,
              PrivateNote: "Accrual",
            },
          },
          answer: { body: { JournalEntry: { Id: "227", SyncToken: "0" } } },
        },
      ],
      output: { Id: "227", SyncToken: "0" },
    },
  ],
};
