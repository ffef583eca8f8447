import type { ActionCase } from "../action-case.ts";
import { COMPANY, invoice, minorversion } from "./company.ts";

/** Writing: customers, invoices, payments, bills and journal entries. */
export const transactions: readonly ActionCase[] = [
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
];
