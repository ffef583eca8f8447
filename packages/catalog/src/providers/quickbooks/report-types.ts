/** The name in the path of a report, what people call it, and the parameters that it takes. */
export interface ReportType {
  id: string;
  label: string;
  parameters: readonly string[];
}

const period = ["start_date", "end_date", "date_macro"];
const sorting = ["sort_by", "sort_order"];
const columns = ["accounting_method", "summarize_column_by", "sort_order"];
const segments = ["customer", "vendor", "item", "class", "department"];
const aging = ["report_date", "aging_method"];
const agingDetail = [
  ...aging,
  "aging_period",
  "num_periods",
  "past_due",
  "start_duedate",
  "end_duedate",
  "term",
  "columns",
];
const statement = [...period, ...columns, ...segments, "adjusted_gain_loss"];
const sales = [...period, ...columns, "customer", "item", "class", "department"];
const transactions = [
  ...period,
  ...sorting,
  "columns",
  "group_by",
  "name",
  "docnum",
  "transaction_type",
  "payment_method",
  "source_account_type",
];
const transactionList = [
  ...transactions,
  "department",
  "memo",
  "term",
  "arpaid",
  "appaid",
  "cleared",
  "printed",
  "bothamount",
  "start_duedate",
  "end_duedate",
  "duedate_macro",
  "start_createdate",
  "end_createdate",
  "createdate_macro",
  "start_moddate",
  "end_moddate",
  "moddate_macro",
];

/**
 * The reports of QuickBooks Online, but for those of France, whose answers have another form.
 *
 * https://developer.intuit.com/app/developer/qbo/docs/workflows/run-reports, and the page of each report below
 * https://developer.intuit.com/app/developer/qbo/docs/api/accounting/report-entities
 */
export const REPORT_TYPES: readonly ReportType[] = [
  { id: "ProfitAndLoss", label: "Profit and loss", parameters: statement },
  {
    id: "ProfitAndLossDetail",
    label: "Profit and loss detail",
    parameters: [
      ...period,
      ...sorting,
      "accounting_method",
      "adjusted_gain_loss",
      "account",
      "account_type",
      "customer",
      "vendor",
      "class",
      "department",
      "employee",
      "payment_method",
      "columns",
    ],
  },
  { id: "BalanceSheet", label: "Balance sheet", parameters: statement },
  {
    id: "CashFlow",
    label: "Statement of cash flows",
    parameters: [...period, ...segments, "summarize_column_by", "sort_order"],
  },
  { id: "TrialBalance", label: "Trial balance", parameters: [...period, ...columns] },
  {
    id: "GeneralLedger",
    label: "General ledger",
    parameters: [
      ...period,
      ...columns,
      ...segments,
      "sort_by",
      "account",
      "account_type",
      "source_account",
      "columns",
    ],
  },
  { id: "JournalReport", label: "Journal", parameters: [...period, ...sorting, "columns"] },
  {
    id: "AccountList",
    label: "Account list",
    parameters: [
      ...period,
      ...sorting,
      "account_type",
      "account_status",
      "columns",
      "start_createdate",
      "end_createdate",
      "createdate_macro",
      "start_moddate",
      "end_moddate",
      "moddate_macro",
    ],
  },
  {
    id: "AgedReceivables",
    label: "A/R aging summary",
    parameters: [...aging, "date_macro", "customer", "department", "sort_order"],
  },
  {
    id: "AgedReceivableDetail",
    label: "A/R aging detail",
    parameters: [...agingDetail, "customer"],
  },
  {
    id: "AgedPayables",
    label: "A/P aging summary",
    parameters: [...aging, "date_macro", "customer", "vendor", "department", "sort_order"],
  },
  {
    id: "AgedPayableDetail",
    label: "A/P aging detail",
    parameters: [...agingDetail, "accounting_method", "vendor"],
  },
  {
    id: "CustomerBalance",
    label: "Customer balance summary",
    parameters: [...columns, "report_date", "date_macro", "customer", "department", "arpaid"],
  },
  {
    id: "CustomerBalanceDetail",
    label: "Customer balance detail",
    parameters: [
      ...aging,
      "start_duedate",
      "end_duedate",
      "customer",
      "department",
      "term",
      "arpaid",
      "sort_order",
    ],
  },
  {
    id: "CustomerIncome",
    label: "Income by customer summary",
    parameters: [...period, ...columns, "customer", "vendor", "class", "department", "term"],
  },
  { id: "CustomerSales", label: "Sales by customer summary", parameters: sales },
  {
    id: "ItemSales",
    label: "Sales by product or service summary",
    parameters: [...sales, "start_duedate", "end_duedate"],
  },
  { id: "ClassSales", label: "Sales by class summary", parameters: sales },
  { id: "DepartmentSales", label: "Sales by department summary", parameters: sales },
  {
    id: "VendorBalance",
    label: "Vendor balance summary",
    parameters: [...columns, "report_date", "date_macro", "vendor", "department", "appaid"],
  },
  {
    id: "VendorBalanceDetail",
    label: "Vendor balance detail",
    parameters: [
      ...columns,
      "report_date",
      "date_macro",
      "start_duedate",
      "end_duedate",
      "duedate_macro",
      "vendor",
      "department",
      "term",
      "appaid",
      "columns",
    ],
  },
  {
    id: "VendorExpenses",
    label: "Expenses by vendor summary",
    parameters: [...period, ...columns, "customer", "vendor", "class", "department"],
  },
  {
    id: "InventoryValuationSummary",
    label: "Inventory valuation summary",
    parameters: ["report_date", "date_macro", "item", "summarize_column_by", "sort_order"],
  },
  {
    id: "InventoryValuationDetail",
    label: "Inventory valuation detail",
    parameters: [...period, "start_svcdate", "end_svcdate", "svcdate_macro", "group_by", "columns"],
  },
  {
    id: "TransactionList",
    label: "Transaction list",
    parameters: [...transactionList, "customer", "vendor"],
  },
  {
    id: "TransactionListByCustomer",
    label: "Transaction list by customer",
    parameters: [...transactionList, "customer"],
  },
  {
    id: "TransactionListByVendor",
    label: "Transaction list by vendor",
    parameters: [...transactionList, "vendor"],
  },
  {
    id: "TransactionListWithSplits",
    label: "Transaction list with splits",
    parameters: transactions,
  },
  {
    id: "TransactionDetailByAccount",
    label: "Transaction detail by account",
    parameters: [
      ...period,
      ...sorting,
      "accounting_method",
      "account",
      "account_type",
      "source_account",
      "customer",
      "vendor",
      "department",
      "transaction_type",
      "cleared",
      "columns",
    ],
  },
  {
    id: "TaxSummary",
    label: "Tax summary",
    parameters: [...period, "accounting_method", "agency_id", "sort_order"],
  },
];
