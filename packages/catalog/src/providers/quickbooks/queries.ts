import { isJsonObject } from "@workflow/json";
import { z } from "zod";
import { choice, flag, text } from "../../action-input.ts";
import type { ActionManifest, Paging } from "../../provider-manifest.ts";
import { fieldInput, givenText, whereInput, writeConditions } from "../../query-conditions.ts";
import type { QueryLiterals } from "../../query-conditions.ts";
import { readPath } from "../../json-path.ts";
import { COMPANY, ENTITY_DOCS, entityOutputs, id, MINOR_VERSION } from "./inputs.ts";

const QUERY_DOCS =
  "https://developer.intuit.com/app/developer/qbo/docs/learn/explore-the-quickbooks-online-api/data-queries";

/** The entities that can be queried, and read by id. */
const ENTITIES = [
  "Account",
  "Bill",
  "BillPayment",
  "Class",
  "CreditMemo",
  "Customer",
  "Department",
  "Deposit",
  "Employee",
  "Estimate",
  "Invoice",
  "Item",
  "JournalEntry",
  "Payment",
  "PaymentMethod",
  "Purchase",
  "PurchaseOrder",
  "RefundReceipt",
  "SalesReceipt",
  "TaxAgency",
  "TaxCode",
  "TaxRate",
  "Term",
  "TimeActivity",
  "Transfer",
  "Vendor",
  "VendorCredit",
];

/** The language has no OR; quotes get a backslash. */
const OPERATORS = ["=", "<", "<=", ">", ">=", "LIKE", "IN"] as const;

const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:?\d\d)?)?$/;

function quote(value: string): string {
  return `'${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}

const literals: QueryLiterals = {
  text: quote,
  number: (value) => quote(String(value)),
  boolean: String,
  date: (value) => (DATE.test(value) ? quote(value) : null),
};

/** QuickBooks has the page in the query's text, and the entity's name in the answer. */
const paging: Paging = {
  items: "QueryResponse.$list",
  member: "records",
  in: { textOf: "query" },
  size: { param: "MAXRESULTS", max: 500 },
  next: { kind: "offset", param: "STARTPOSITION", first: 1 },
};

function select(entity: string, where: unknown, order = ""): string {
  const conditions = writeConditions(where, literals);
  const parts = [`select * from ${entity}`, conditions === "" ? "" : `where ${conditions}`, order];
  return parts.filter((part) => part !== "").join(" ");
}

const entity = choice("entity", ENTITIES, { required: true, in: "none" });

export const queryRecords: ActionManifest = {
  name: "queryRecords",
  title: "Find records",
  description: "Finds invoices, bills, accounts and so on by the values of their fields.",
  docs: QUERY_DOCS,
  inputs: [
    entity,
    whereInput(OPERATORS),
    fieldInput("orderBy", { title: "Sort by" }),
    choice("direction", ["ASC", "DESC"], { in: "none" }),
  ],
  outputs: ["records", "hasMore"],
  request: {
    method: "GET",
    path: `${COMPANY}/query`,
    query: { minorversion: MINOR_VERSION },
    build: ({ parts, inputs }) => {
      const orderBy = givenText(inputs["orderBy"]);
      const direction = givenText(inputs["direction"]) ?? "ASC";
      const order = orderBy === undefined ? "" : `orderby ${orderBy} ${direction}`;
      const query = select(String(inputs["entity"]), inputs["where"], order);
      return { ...parts, query: { ...parts.query, query } };
    },
  },
  paging,
  readOnly: true,
  example: {
    entity: "Invoice",
    where: [
      { field: "Balance", operator: ">", value: 0 },
      { field: "DueDate", operator: "<", value: "2026-11-22", type: "date" },
    ],
    orderBy: "DueDate",
  },
};

export const findCustomers: ActionManifest = {
  name: "findCustomers",
  title: "Find customers",
  description: "Finds customers by name, e-mail address or when they were changed.",
  docs: `${ENTITY_DOCS}/customer#query-a-customer`,
  inputs: [
    text("DisplayName", {
      title: "Display name",
      description: "% stands for anything",
      in: "none",
    }),
    text("PrimaryEmailAddr", { title: "E-mail", in: "none" }),
    text("CompanyName", { title: "Company", in: "none" }),
    flag("Active", { description: "Only active ones by default", in: "none" }),
    text("LastUpdatedTime", {
      title: "Changed since",
      description: "2026-11-22T10:00:00Z",
      schema: z.string().regex(DATE, "must be an ISO time"),
      in: "none",
    }),
  ],
  outputs: ["records", "hasMore"],
  request: {
    method: "GET",
    path: `${COMPANY}/query`,
    query: { minorversion: MINOR_VERSION },
    build: ({ parts, inputs }) => {
      const conditions = [
        ["DisplayName", "DisplayName", "LIKE"],
        ["PrimaryEmailAddr", "PrimaryEmailAddr", "="],
        ["CompanyName", "CompanyName", "="],
        ["Active", "Active", "="],
        ["LastUpdatedTime", "MetaData.LastUpdatedTime", ">="],
      ].flatMap(([key = "", field, operator]) => {
        const value = inputs[key];
        return value === undefined || value === null || value === ""
          ? []
          : [{ field, operator, value }];
      });
      return { ...parts, query: { ...parts.query, query: select("Customer", conditions) } };
    },
  },
  paging,
  readOnly: true,
  example: { PrimaryEmailAddr: "ada@example.com" },
};

export const getRecord: ActionManifest = {
  name: "getRecord",
  title: "Get a record",
  description: "Reads an invoice, a bill, an account and so on.",
  docs: `${ENTITY_DOCS}/invoice#read-an-invoice`,
  inputs: [entity, id],
  outputs: entityOutputs,
  request: {
    method: "GET",
    path: `${COMPANY}/{entity}/{Id}`,
    query: { minorversion: MINOR_VERSION },
    // The reference spells entities in lower case here: /invoice/130.
    build: ({ parts, inputs }) => {
      const name = String(inputs["entity"]);
      return { ...parts, path: parts.path.replace(`/${name}/`, `/${name.toLowerCase()}/`) };
    },
  },
  answer: {
    read: ({ body }, inputs) => {
      const record = readPath(body, String(inputs["entity"]));
      return isJsonObject(record) ? record : body;
    },
  },
  readOnly: true,
  example: { entity: "Invoice", Id: "130" },
};
