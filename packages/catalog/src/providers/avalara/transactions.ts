import { z } from "zod";
import { choice, flag, json, number, text } from "../../action-input.ts";
import type { ActionManifest, RequestParts } from "../../provider-manifest.ts";

const METHODS = "https://developer.avalara.com/api-reference/avatax/rest/v2/methods/Transactions";

/** Document types with `Invoice` in their name are recorded by AvaTax; an order is computed and forgotten. */
const TYPES = [
  { id: "SalesOrder", label: "Sales order (an estimate)" },
  { id: "SalesInvoice", label: "Sales invoice" },
  { id: "PurchaseOrder", label: "Purchase order (an estimate)" },
  { id: "PurchaseInvoice", label: "Purchase invoice" },
  { id: "ReturnOrder", label: "Return order (an estimate)" },
  { id: "ReturnInvoice", label: "Return invoice" },
  { id: "InventoryTransferOrder", label: "Inventory transfer order (an estimate)" },
  { id: "InventoryTransferInvoice", label: "Inventory transfer invoice" },
  { id: "ReverseChargeOrder", label: "Reverse charge order (an estimate)" },
  { id: "ReverseChargeInvoice", label: "Reverse charge invoice" },
];

const RECORDED = TYPES.filter(({ id }) => id.endsWith("Invoice"));

const companyCode = text("companyCode", {
  title: "Company code",
  schema: z.string().max(25),
  description: "By default the one of the connection",
});

const transactionCode = text("transactionCode", { required: true, title: "Transaction code" });

const documentType = choice("documentType", RECORDED, {
  description: "Where several documents share the code; a sales invoice by default",
  in: "query",
});

const include = text("include", {
  description: "Parts to read as well, between commas: Lines, Details, Summary, Addresses",
  as: "$include",
  in: "query",
});

const filter = text("filter", {
  as: "$filter",
  control: "long-input",
  description: "date ge '2026-01-01' and status eq Committed; without a date the last 30 days",
});

const address = z.strictObject({
  line1: z.string().max(50).optional(),
  line2: z.string().max(100).optional(),
  line3: z.string().max(100).optional(),
  city: z.string().max(50).optional(),
  region: z.string().optional(),
  postalCode: z.string().max(11).optional(),
  country: z.string().optional(),
  locationCode: z.string().max(50).optional(),
  latitude: z.number().optional(),
  longitude: z.number().optional(),
});

const addresses = z.strictObject({
  singleLocation: address.optional(),
  shipFrom: address.optional(),
  shipTo: address.optional(),
  pointOfOrderOrigin: address.optional(),
  pointOfOrderAcceptance: address.optional(),
  billTo: address.optional(),
});

const line = z.looseObject({
  number: z.string().max(50).optional(),
  quantity: z.number().optional(),
  amount: z.number(),
  taxCode: z.string().max(25).optional(),
  itemCode: z.string().max(50).optional(),
  description: z.string().max(2096).optional(),
  discounted: z.boolean().optional(),
  taxIncluded: z.boolean().optional(),
  addresses: addresses.optional(),
});

const TRANSACTION = [
  "id",
  "code",
  "companyId",
  "date",
  "type",
  "status",
  "currencyCode",
  "totalAmount",
  "totalDiscount",
  "totalExempt",
  "totalTaxable",
  "totalTax",
  "lines",
  "summary",
  "addresses",
  "messages",
];

/** Codes may contain characters that a path cannot. AvaTax has its own spellings for these. */
function spellCodes({ parts }: { parts: RequestParts }): RequestParts {
  const spelled = parts.path.replaceAll(
    /%(2F|2B|3F|25|23)/g,
    (_, hex: string) => `_-ava${hex.toLowerCase()}-_`,
  );
  return { ...parts, path: spelled };
}

export const createTransaction: ActionManifest = {
  name: "createTransaction",
  title: "Create a transaction",
  description: "Works out the taxes of a sale, a purchase or a return, and records invoices.",
  docs: `${METHODS}/CreateTransaction/`,
  inputs: [
    choice("type", TYPES, { description: "A sales order by default, which is not recorded" }),
    { ...companyCode, in: "body" },
    text("code", {
      schema: z.string().max(50),
      description: "Your number of the document; by default one that belongs to the step",
    }),
    text("date", { schema: z.iso.date(), required: true, description: "A date: 2026-01-31" }),
    text("customerCode", { schema: z.string().max(50), required: true }),
    json("lines", {
      schema: z.array(line).min(1),
      required: true,
      description: "amount (of all pieces), quantity, itemCode, taxCode, description each",
    }),
    json("addresses", {
      schema: addresses,
      description:
        "shipFrom and shipTo, or singleLocation: line1, city, region, postalCode, country each",
    }),
    flag("commit", { description: "Report it at once; else it is committed later" }),
    text("currencyCode", {
      schema: z.string().regex(/^[A-Z]{3}$/, "must be a currency code such as USD"),
    }),
    number("discount", { schema: z.number(), description: "For all lines that are discounted" }),
    text("purchaseOrderNo", { schema: z.string().max(50) }),
    text("referenceCode", { schema: z.string().max(1024) }),
    text("salespersonCode", { schema: z.string().max(25) }),
    text("entityUseCode", { schema: z.string().max(25), description: "Why a customer is exempt" }),
    text("exemptionNo", { schema: z.string().max(25) }),
    text("description", { schema: z.string().max(2048) }),
    text("email", { schema: z.string().max(50) }),
    json("taxOverride", {
      description: "type, taxAmount, taxDate, reason, for taxes that are already known",
    }),
    include,
  ],
  outputs: TRANSACTION,
  request: {
    method: "POST",
    path: "/api/v2/transactions/create",
    // A repetition replaces the document of this code, or is refused when the document is committed.
    idempotencyMember: "code",
    build: ({ parts, fields }) => {
      const company = fields["companyCode"] ?? "";
      const preset = company === "" ? {} : { companyCode: company };
      return { ...parts, body: { ...preset, ...Object(parts.body) } };
    },
  },
  example: {
    type: "SalesInvoice",
    code: "INV-17",
    date: "2026-01-31",
    customerCode: "ADA",
    lines: [{ number: "1", quantity: 1, amount: 100, itemCode: "Y0001" }],
    addresses: {
      singleLocation: {
        line1: "2000 Main Street",
        city: "Irvine",
        region: "CA",
        country: "US",
        postalCode: "92614",
      },
    },
    commit: true,
  },
};

export const getTransaction: ActionManifest = {
  name: "getTransaction",
  title: "Get a transaction",
  description: "Reads a recorded transaction by its code.",
  docs: `${METHODS}/GetTransactionByCode/`,
  inputs: [transactionCode, companyCode, documentType, include],
  outputs: TRANSACTION,
  request: {
    method: "GET",
    path: "/api/v2/companies/{companyCode}/transactions/{transactionCode}",
    build: spellCodes,
  },
  readOnly: true,
  example: { transactionCode: "INV-17", companyCode: "DEFAULT" },
};

export const listTransactions: ActionManifest = {
  name: "listTransactions",
  title: "List transactions",
  description: "Lists a company's recorded transactions.",
  docs: `${METHODS}/ListTransactionsByCompany/`,
  inputs: [
    companyCode,
    filter,
    include,
    text("orderBy", { as: "$orderBy", description: "By default id: date DESC" }),
  ],
  outputs: ["transactions", "hasMore"],
  request: {
    method: "GET",
    path: "/api/v2/companies/{companyCode}/transactions",
    build: ({ parts }) =>
      spellCodes({ parts: { ...parts, query: { $orderBy: "id ASC", ...parts.query } } }),
  },
  paging: {
    items: "value",
    member: "transactions",
    size: { param: "$top", max: 1000 },
    next: { kind: "offset", param: "$skip", total: "@recordsetCount" },
  },
  readOnly: true,
  example: { companyCode: "DEFAULT", filter: "date ge '2026-01-01' and status eq Committed" },
};

export const commitTransaction: ActionManifest = {
  name: "commitTransaction",
  title: "Commit a transaction",
  description: "Marks a recorded transaction as final, to be reported.",
  docs: `${METHODS}/CommitTransaction/`,
  inputs: [transactionCode, companyCode, documentType],
  outputs: TRANSACTION,
  request: {
    method: "POST",
    path: "/api/v2/companies/{companyCode}/transactions/{transactionCode}/commit",
    build: ({ parts }) => spellCodes({ parts: { ...parts, body: { commit: true } } }),
  },
  example: { transactionCode: "INV-17", companyCode: "DEFAULT" },
};

export const voidTransaction: ActionManifest = {
  name: "voidTransaction",
  title: "Void a transaction",
  description: "Takes a recorded transaction back, so that it is not reported.",
  docs: `${METHODS}/VoidTransaction/`,
  inputs: [
    transactionCode,
    companyCode,
    choice(
      "reason",
      [
        { id: "DocVoided", label: "The document is void" },
        { id: "DocDeleted", label: "The document was deleted" },
        { id: "PostFailed", label: "It could not be posted" },
        { id: "AdjustmentCancelled", label: "An adjustment was cancelled" },
        { id: "Unspecified", label: "Another reason" },
      ],
      { required: true, as: "code" },
    ),
    documentType,
  ],
  outputs: TRANSACTION,
  request: {
    method: "POST",
    path: "/api/v2/companies/{companyCode}/transactions/{transactionCode}/void",
    build: spellCodes,
  },
  example: { transactionCode: "INV-17", companyCode: "DEFAULT", reason: "DocVoided" },
};
