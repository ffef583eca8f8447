import { z } from "zod";
import { choice, json, list, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import { currency, metadata, money, pagesOf, requestId, time } from "./fields.ts";

const ENTITY_TYPES = [
  { id: "COMPANY", label: "Company" },
  { id: "PERSONAL", label: "Person" },
];

const isCompany = { field: "entity_type", value: "COMPANY" };
const isPerson = { field: "entity_type", value: "PERSONAL" };

const details = z.record(z.string(), z.unknown());

export const createBeneficiary: ActionManifest = {
  name: "createBeneficiary",
  title: "Create a beneficiary",
  description: "Saves whom transfers can be made to.",
  docs: "https://www.airwallex.com/docs/api/payouts/beneficiaries/create",
  inputs: [
    choice("entity_type", ENTITY_TYPES, { required: true, as: "beneficiary.entity_type" }),
    text("company_name", {
      required: true,
      visibleWhen: isCompany,
      as: "beneficiary.company_name",
    }),
    text("first_name", { required: true, visibleWhen: isPerson, as: "beneficiary.first_name" }),
    text("last_name", { required: true, visibleWhen: isPerson, as: "beneficiary.last_name" }),
    json("bank_details", {
      schema: details,
      required: true,
      as: "beneficiary.bank_details",
      description:
        "account_name, account_currency, bank_country_code and what that country needs: account_number, iban, swift_code, account_routing_type1 and account_routing_value1",
    }),
    json("address", {
      schema: details,
      as: "beneficiary.address",
      description: "street_address, city, state, postcode, country_code",
    }),
    json("additional_info", {
      schema: details,
      as: "beneficiary.additional_info",
      description:
        "Facts that some countries require: personal_email, business_registration_number",
    }),
    list("transfer_methods", {
      of: z.enum(["LOCAL", "SWIFT"]),
      required: true,
      description: "LOCAL, SWIFT or both",
    }),
    text("nickname"),
    text("transfer_reason", { description: "The usual reason: goods_purchased" }),
  ],
  outputs: ["id", "beneficiary", "nickname", "transfer_methods", "payer_entity_type"],
  request: { method: "POST", path: "/api/v1/beneficiaries/create" },
  example: {
    entity_type: "COMPANY",
    company_name: "Lovelace Parts GmbH",
    transfer_methods: ["LOCAL"],
    bank_details: {
      account_name: "Lovelace Parts GmbH",
      account_currency: "EUR",
      bank_country_code: "DE",
      iban: "DE89370400440532013000",
    },
  },
};

export const listBeneficiaries: ActionManifest = {
  name: "listBeneficiaries",
  title: "List beneficiaries",
  description: "Lists saved beneficiaries.",
  docs: "https://www.airwallex.com/docs/api/payouts/beneficiaries/list",
  inputs: [
    text("name", { description: "A person's first or last name" }),
    text("company_name"),
    text("nick_name", { title: "Nickname" }),
    choice("entity_type", ENTITY_TYPES),
    text("bank_account_number"),
    text("from_date", { schema: z.iso.date(), description: "Created from here on: 2026-01-01" }),
    text("to_date", { schema: z.iso.date(), description: "Created up to here: 2026-01-31" }),
  ],
  outputs: ["beneficiaries", "hasMore"],
  request: { method: "GET", path: "/api/v1/beneficiaries" },
  paging: pagesOf("beneficiaries"),
  readOnly: true,
  example: { company_name: "Lovelace Parts GmbH" },
};

export const createTransfer: ActionManifest = {
  name: "createTransfer",
  title: "Create a transfer",
  description: "Pays a saved beneficiary from the wallet, converted where the currencies differ.",
  docs: "https://www.airwallex.com/docs/api/payouts/transfers/create",
  inputs: [
    text("beneficiary_id", { title: "Beneficiary", required: true }),
    currency("source_currency", {
      required: true,
      description: "The currency in which the wallet pays",
    }),
    currency("transfer_currency", {
      required: true,
      description: "The currency that the beneficiary gets",
    }),
    money("transfer_amount", {
      requiredWithout: ["source_amount"],
      notWith: ["source_amount"],
      description: "Either this or the amount that the wallet pays",
    }),
    money("source_amount", { description: "Either this or the amount that the beneficiary gets" }),
    choice("transfer_method", [
      { id: "LOCAL", label: "Local clearing" },
      { id: "SWIFT", label: "SWIFT" },
    ]),
    choice(
      "swift_charge_option",
      [
        { id: "PAYER", label: "The payer bears the banks' fees" },
        { id: "SHARED", label: "Both share the banks' fees" },
      ],
      { visibleWhen: { field: "transfer_method", value: "SWIFT" } },
    ),
    choice("fee_paid_by", [
      { id: "PAYER", label: "The payer" },
      { id: "BENEFICIARY", label: "The beneficiary" },
    ]),
    text("reason", { required: true, description: "Why it is paid: goods_purchased" }),
    text("reference", {
      schema: z.string().max(140),
      required: true,
      description: "The text on the beneficiary's statement",
    }),
    text("transfer_date", { schema: z.iso.date(), description: "Today by default: 2026-01-31" }),
    text("quote_id", { title: "Quote", description: "Id of a quote whose rate is guaranteed" }),
    text("remarks"),
    metadata,
    requestId,
  ],
  outputs: [
    "id",
    "short_reference_id",
    "request_id",
    "status",
    "source_currency",
    "source_amount",
    "transfer_currency",
    "transfer_amount",
    "amount_payer_pays",
    "amount_beneficiary_receives",
    "fee_amount",
    "fee_currency",
    "transfer_date",
    "created_at",
  ],
  request: {
    method: "POST",
    path: "/api/v1/transfers/create",
    idempotencyMember: "request_id",
  },
  example: {
    beneficiary_id: "eb06e9ac-1ad2-4d0b-8c5f-54f7d8f0e5b1",
    source_currency: "USD",
    transfer_currency: "EUR",
    transfer_amount: 120.5,
    transfer_method: "LOCAL",
    reason: "goods_purchased",
    reference: "INV-17",
  },
};

export const getTransfer: ActionManifest = {
  name: "getTransfer",
  title: "Get a transfer",
  description: "Reads a transfer, to see what became of it.",
  docs: "https://www.airwallex.com/docs/api/payouts/transfers/retrieve",
  inputs: [text("id", { title: "Transfer", required: true })],
  outputs: [...createTransfer.outputs, "beneficiary", "failure_reason", "failure_type"],
  request: { method: "GET", path: "/api/v1/transfers/{id}" },
  readOnly: true,
  example: { id: "d9af1614-a6a1-4d45-aae7-6858fc6d9ede" },
};

export const listTransfers: ActionManifest = {
  name: "listTransfers",
  title: "List transfers",
  description: "Lists transfers.",
  docs: "https://www.airwallex.com/docs/api/payouts/transfers/list",
  inputs: [
    choice("status", [
      { id: "IN_APPROVAL", label: "In approval" },
      { id: "APPROVAL_RECALLED", label: "Approval recalled" },
      { id: "APPROVAL_REJECTED", label: "Approval rejected" },
      { id: "APPROVAL_BLOCKED", label: "Approval blocked" },
      { id: "SCHEDULED", label: "Scheduled" },
      { id: "OVERDUE", label: "Overdue" },
      { id: "PROCESSING", label: "Processing" },
      { id: "SENT", label: "Sent" },
      { id: "PAID", label: "Paid" },
      { id: "FAILED", label: "Failed" },
      { id: "CANCELLATION_REQUESTED", label: "Cancellation requested" },
      { id: "CANCELLED", label: "Cancelled" },
    ]),
    currency("transfer_currency"),
    time("from_created_at"),
    time("to_created_at"),
    text("short_reference_id"),
    text("request_id", { description: "The one that the transfer was created with" }),
  ],
  outputs: ["transfers", "hasMore"],
  // Page 0 lifts the bound of 30 days that the list has without dates.
  request: { method: "GET", path: "/api/v1/transfers", query: { page: "0" } },
  paging: {
    items: "items",
    member: "transfers",
    size: { param: "page_size", max: 100, min: 10 },
    next: { kind: "cursor", from: "page_after", param: "page" },
  },
  readOnly: true,
  example: { status: "FAILED", from_created_at: "2026-01-01T00:00:00Z" },
};
