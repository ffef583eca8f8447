import type { ActionCase } from "../action-case.ts";
import { COMPANY, minorversion } from "./company.ts";

/** Reports: parameters, nested rows, and reports that the company does not have. */
export const reports: readonly ActionCase[] = [
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
];
