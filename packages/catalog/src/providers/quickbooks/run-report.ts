import { z } from "zod";
import { choice, flag, list, number, text } from "../../action-input.ts";
import type { ActionInput } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import { COMPANY, MINOR_VERSION } from "./inputs.ts";
import { REPORT_TYPES } from "./report-types.ts";

const PERIODS = [
  "Week",
  "Month",
  "Fiscal Quarter",
  "Fiscal Year",
  "Calendar Quarter",
  "Calendar Year",
];

/** Ranges by name: `This Month-to-date`, `Last Fiscal Quarter`. */
const DATE_MACROS = [
  "All",
  "Today",
  "Yesterday",
  ...PERIODS.flatMap((period) => [
    `This ${period}`,
    `This ${period}-to-date`,
    `Last ${period}`,
    `Last ${period}-to-date`,
    `Next ${period}`,
  ]),
  "Next 4 Weeks",
];

const ACCOUNT_TYPES = [
  "AccountsPayable",
  "AccountsReceivable",
  "Bank",
  "CostOfGoodsSold",
  "CreditCard",
  "Equity",
  "Expense",
  "FixedAsset",
  "Income",
  "LongTermLiability",
  "NonPosting",
  "OtherAsset",
  "OtherCurrentAsset",
  "OtherCurrentLiability",
  "OtherExpense",
  "OtherIncome",
];

const COLUMNS_BY = [
  "Total",
  "Month",
  "Week",
  "Days",
  "Quarter",
  "Year",
  "Customers",
  "Vendors",
  "Classes",
  "Departments",
  "Employees",
  "ProductsAndServices",
];

const GROUPS = [
  "Name",
  "Account",
  "Transaction Type",
  "Customer",
  "Vendor",
  "Employee",
  "Location",
  "Payment Method",
  "Day",
  "Week",
  "Month",
  "Quarter",
  "Year",
  "Fiscal Year",
  "Fiscal Quarter",
];

function date(key: string, title: string): ActionInput {
  const schema = z.string().regex(/^\d{4}-\d\d-\d\d$/, "must be a date: 2026-01-31");
  return text(key, { title, schema });
}

function ids(key: string, title: string): ActionInput {
  const of = z.string().regex(/^\d{1,20}$/, "must be an id, which is a number");
  return list(key, { title, description: "Ids", of, join: "," });
}

function range(name: string, title: string): ActionInput[] {
  return [
    date(`start_${name}`, `${title} from`),
    date(`end_${name}`, `${title} to`),
    choice(`${name}_macro`, DATE_MACROS, { title }),
  ];
}

const parameters: readonly ActionInput[] = [
  date("start_date", "From"),
  date("end_date", "To"),
  choice("date_macro", DATE_MACROS, { title: "Period", description: "Instead of from and to" }),
  date("report_date", "As of"),
  choice("accounting_method", ["Cash", "Accrual"]),
  choice("summarize_column_by", COLUMNS_BY, { title: "Columns by" }),
  list("columns", { description: "tx_date, txn_type, doc_num, name, memo and so on", join: "," }),
  ids("customer", "Customers"),
  ids("vendor", "Vendors"),
  ids("item", "Products and services"),
  ids("class", "Classes"),
  ids("department", "Departments"),
  ids("employee", "Employees"),
  ids("term", "Terms"),
  ids("account", "Accounts"),
  choice("account_type", ACCOUNT_TYPES),
  choice("account_status", ["Deleted", "Not_Deleted"]),
  ids("source_account", "Source accounts"),
  choice("source_account_type", ACCOUNT_TYPES),
  text("agency_id", {
    title: "Tax agency",
    description: "Its id",
    schema: z.string().regex(/^\d{1,20}$/, "must be an id, which is a number"),
    required: true,
  }),
  choice("aging_method", ["Report_Date", "Current"]),
  number("aging_period", { description: "Days", schema: z.int().min(1) }),
  number("num_periods", { title: "Number of periods", schema: z.int().min(1) }),
  number("past_due", { description: "Days", schema: z.int().min(0) }),
  choice("arpaid", ["All", "Paid", "Unpaid"], { title: "Receivables" }),
  choice("appaid", ["All", "Paid", "Unpaid"], { title: "Payables" }),
  text("transaction_type", { description: "Invoice, Bill, JournalEntry and so on" }),
  text("payment_method"),
  text("docnum", { title: "Transaction number" }),
  ids("name", "Names"),
  text("memo"),
  text("bothamount", { title: "Amount" }),
  choice("cleared", ["Cleared", "Uncleared", "Reconciled", "Deposited"]),
  choice("printed", ["Printed", "To_be_printed"]),
  ...range("duedate", "Due date"),
  ...range("createdate", "Created"),
  ...range("moddate", "Changed"),
  ...range("svcdate", "Service date"),
  flag("adjusted_gain_loss", { title: "Adjust unrealized gain or loss" }),
  choice("group_by", GROUPS),
  text("sort_by", { description: "A column" }),
  choice("sort_order", ["ascend", "descend"]),
];

/** The editor shows each parameter for the reports that accept it; other reports do not get it. */
function ofTheirReports(input: ActionInput): ActionInput {
  const reports = REPORT_TYPES.filter((report) => report.parameters.includes(input.key));
  return {
    ...input,
    visibleWhen: { field: "reportType", value: reports.map(({ id }) => id) },
  };
}

/** The output is Header, Columns and nested Rows. The company's edition decides which reports exist. */
export const runReport: ActionManifest = {
  name: "runReport",
  title: "Run a report",
  description: "Runs a financial report. QuickBooks advises periods of at most six months.",
  docs: "https://developer.intuit.com/app/developer/qbo/docs/workflows/run-reports",
  inputs: [
    choice(
      "reportType",
      REPORT_TYPES.map(({ id, label }) => ({ id, label })),
      { title: "Report", required: true },
    ),
    ...parameters.map(ofTheirReports),
  ],
  outputs: ["Header", "Columns", "Rows"],
  request: {
    method: "GET",
    path: `${COMPANY}/reports/{reportType}`,
    query: { minorversion: MINOR_VERSION },
  },
  readOnly: true,
  example: {
    reportType: "ProfitAndLoss",
    start_date: "2026-01-01",
    end_date: "2026-03-31",
    accounting_method: "Accrual",
    summarize_column_by: "Month",
  },
};
