import { z } from "zod";
import { flag, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import {
  amount,
  COMPANY,
  currency,
  day,
  docNumber,
  ENTITY_DOCS,
  entityOutputs,
  id,
  lines,
  MINOR_VERSION,
  moreFields,
  privateNote,
  reference,
  txnDate,
} from "./inputs.ts";

const query = { minorversion: MINOR_VERSION };

export const createCustomer: ActionManifest = {
  name: "createCustomer",
  title: "Create a customer",
  description:
    "Creates a customer. Its display name is unique among customers, vendors and employees.",
  docs: `${ENTITY_DOCS}/customer#create-a-customer`,
  inputs: [
    text("DisplayName", { title: "Display name", schema: z.string().max(500), required: true }),
    text("GivenName", { title: "Given name", schema: z.string().max(100) }),
    text("FamilyName", { title: "Family name", schema: z.string().max(100) }),
    text("CompanyName", { title: "Company", schema: z.string().max(100) }),
    text("PrimaryEmailAddr", {
      title: "E-mail",
      schema: z.string().max(100),
      as: "PrimaryEmailAddr.Address",
    }),
    text("PrimaryPhone", {
      title: "Phone",
      schema: z.string().max(30),
      as: "PrimaryPhone.FreeFormNumber",
    }),
    currency,
    text("Notes", { control: "long-input", schema: z.string().max(2_000) }),
    moreFields,
  ],
  outputs: [...entityOutputs, "DisplayName", "Active", "Balance", "PrimaryEmailAddr"],
  request: { method: "POST", path: `${COMPANY}/customer`, query },
  answer: { pick: "Customer" },
  example: { DisplayName: "King's Groceries", PrimaryEmailAddr: "king@example.com" },
};

export const createInvoice: ActionManifest = {
  name: "createInvoice",
  title: "Create an invoice",
  description: "Creates an invoice for a customer.",
  docs: `${ENTITY_DOCS}/invoice#create-an-invoice`,
  inputs: [
    reference("CustomerRef", "Customer", { required: true }),
    lines(
      [
        "SalesItemLineDetail",
        "GroupLineDetail",
        "DescriptionOnly",
        "DiscountLineDetail",
        "SubTotalLineDetail",
      ],
      {
        description: "{Amount, DetailType, SalesItemLineDetail: {ItemRef: {value}}} each",
        required: true,
      },
    ),
    docNumber,
    txnDate,
    day("DueDate", "Due date"),
    text("BillEmail", { title: "E-mail", schema: z.string().max(100), as: "BillEmail.Address" }),
    reference("SalesTermRef", "Terms"),
    currency,
    text("CustomerMemo", {
      title: "Message to the customer",
      control: "long-input",
      schema: z.string().max(1_000),
      as: "CustomerMemo.value",
    }),
    privateNote,
    moreFields,
  ],
  outputs: [...entityOutputs, "DocNumber", "TxnDate", "DueDate", "TotalAmt", "Balance", "Line"],
  request: { method: "POST", path: `${COMPANY}/invoice`, query },
  answer: { pick: "Invoice" },
  example: {
    CustomerRef: "1",
    Line: [
      {
        DetailType: "SalesItemLineDetail",
        Amount: 100,
        SalesItemLineDetail: { ItemRef: { value: "1" } },
      },
    ],
  },
};

export const sendInvoice: ActionManifest = {
  name: "sendInvoice",
  title: "E-mail an invoice",
  description: "Sends an invoice by e-mail, to its own address or to another.",
  docs: `${ENTITY_DOCS}/invoice#send-an-invoice`,
  inputs: [id, text("sendTo", { title: "To", schema: z.string().max(100), in: "query" })],
  outputs: [...entityOutputs, "DocNumber", "EmailStatus", "DeliveryInfo", "BillEmail"],
  request: {
    method: "POST",
    path: `${COMPANY}/invoice/{Id}/send`,
    query,
    build: ({ parts }) => ({
      ...parts,
      headers: { ...parts.headers, "content-type": "application/octet-stream" },
      body: undefined,
    }),
  },
  answer: { pick: "Invoice" },
  example: { Id: "130", sendTo: "king@example.com" },
};

export const createPayment: ActionManifest = {
  name: "createPayment",
  title: "Record a payment",
  description: "Records what a customer paid, for invoices or on account.",
  docs: `${ENTITY_DOCS}/payment#create-a-payment`,
  inputs: [
    reference("CustomerRef", "Customer", { required: true }),
    amount("TotalAmt", "Amount", { required: true }),
    lines(null, {
      description: '{Amount, LinkedTxn: [{TxnId, TxnType: "Invoice"}]} each',
    }),
    txnDate,
    text("PaymentRefNum", { title: "Reference", schema: z.string().max(21) }),
    reference("PaymentMethodRef", "Payment method"),
    reference("DepositToAccountRef", "Deposit to", { description: "An account's id" }),
    currency,
    privateNote,
    moreFields,
  ],
  outputs: [...entityOutputs, "TxnDate", "TotalAmt", "UnappliedAmt", "CustomerRef", "Line"],
  request: { method: "POST", path: `${COMPANY}/payment`, query },
  answer: { pick: "Payment" },
  example: {
    CustomerRef: "20",
    TotalAmt: 55,
    Line: [{ Amount: 55, LinkedTxn: [{ TxnId: "69", TxnType: "Invoice" }] }],
  },
};

export const createBill: ActionManifest = {
  name: "createBill",
  title: "Create a bill",
  description: "Creates a bill of a vendor.",
  docs: `${ENTITY_DOCS}/bill#create-a-bill`,
  inputs: [
    reference("VendorRef", "Vendor", { required: true }),
    lines(["AccountBasedExpenseLineDetail", "ItemBasedExpenseLineDetail"], {
      description:
        "{Amount, DetailType, AccountBasedExpenseLineDetail: {AccountRef: {value}}} each",
      required: true,
    }),
    docNumber,
    txnDate,
    day("DueDate", "Due date"),
    reference("APAccountRef", "Payables account"),
    reference("SalesTermRef", "Terms"),
    currency,
    privateNote,
    moreFields,
  ],
  outputs: [...entityOutputs, "DocNumber", "TxnDate", "DueDate", "TotalAmt", "Balance", "Line"],
  request: { method: "POST", path: `${COMPANY}/bill`, query },
  answer: { pick: "Bill" },
  example: {
    VendorRef: "56",
    Line: [
      {
        DetailType: "AccountBasedExpenseLineDetail",
        Amount: 200,
        AccountBasedExpenseLineDetail: { AccountRef: { value: "7" } },
      },
    ],
  },
};

export const createJournalEntry: ActionManifest = {
  name: "createJournalEntry",
  title: "Create a journal entry",
  description: "Creates a journal entry; its debits and credits have to balance.",
  docs: `${ENTITY_DOCS}/journalentry#create-a-journalentry`,
  inputs: [
    lines(["JournalEntryLineDetail", "DescriptionOnly"], {
      description:
        '{Amount, DetailType, JournalEntryLineDetail: {PostingType: "Debit", AccountRef: {value}}} each',
      required: true,
    }),
    docNumber,
    txnDate,
    flag("Adjustment"),
    currency,
    privateNote,
    moreFields,
  ],
  outputs: [...entityOutputs, "DocNumber", "TxnDate", "Line"],
  request: { method: "POST", path: `${COMPANY}/journalentry`, query },
  answer: { pick: "JournalEntry" },
  example: {
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
  },
};
