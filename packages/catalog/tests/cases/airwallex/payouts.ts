import type { ActionCase } from "../action-case.ts";
import { REQUEST_ID, transfer } from "./transfer.ts";

/** Beneficiaries and transfers. */
export const payouts: readonly ActionCase[] = [
  {
    action: "createBeneficiary",
    what: "of a company, without what belongs to persons",
    inputs: {
      entity_type: "COMPANY",
      company_name: "Lovelace Parts GmbH",
      first_name: "left over",
      transfer_methods: ["LOCAL"],
      bank_details: { account_name: "Lovelace Parts GmbH", iban: "DE89370400440532013000" },
      address: { country_code: "DE", city: "Berlin" },
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v1/beneficiaries/create",
          json: {
            beneficiary: {
              entity_type: "COMPANY",
              company_name: "Lovelace Parts GmbH",
              bank_details: { account_name: "Lovelace Parts GmbH", iban: "DE89370400440532013000" },
              address: { country_code: "DE", city: "Berlin" },
            },
            transfer_methods: ["LOCAL"],
          },
        },
        answer: { status: 201, body: { id: "b1" } },
      },
    ],
    output: { id: "b1" },
  },
  {
    action: "createBeneficiary",
    what: "of a person without a last name",
    inputs: {
      entity_type: "PERSONAL",
      first_name: "Ada",
      transfer_methods: ["LOCAL"],
      bank_details: { iban: "DE89370400440532013000" },
    },
    exchanges: [],
    refused: "last_name",
  },
  {
    action: "listBeneficiaries",
    inputs: { company_name: "Lovelace", entity_type: "COMPANY", limit: 2 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/api/v1/beneficiaries",
          query: {
            company_name: "Lovelace",
            entity_type: "COMPANY",
            page_size: "100",
            page_num: "0",
          },
        },
        answer: { body: { has_more: true, items: [{ id: "b1" }] } },
      },
      {
        request: {
          method: "GET",
          path: "/api/v1/beneficiaries",
          query: {
            company_name: "Lovelace",
            entity_type: "COMPANY",
            page_size: "100",
            page_num: "1",
          },
        },
        answer: { body: { has_more: true, items: [{ id: "b2" }, { id: "b3" }] } },
      },
    ],
    output: { beneficiaries: [{ id: "b1" }, { id: "b2" }], hasMore: true },
  },
  {
    action: "createTransfer",
    inputs: { ...transfer, swift_charge_option: "PAYER", metadata: { order: "17" } },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v1/transfers/create",
          json: { request_id: REQUEST_ID, ...transfer, metadata: { order: "17" } },
        },
        answer: { status: 201, body: { id: "t1", status: "SCHEDULED", fee_amount: 1 } },
      },
    ],
    output: { id: "t1", status: "SCHEDULED", fee_amount: 1 },
  },
  {
    action: "createTransfer",
    what: "with a request id of the workflow's",
    inputs: { ...transfer, request_id: "invoice-17" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v1/transfers/create",
          json: { ...transfer, request_id: "invoice-17" },
        },
        answer: { status: 201, body: { id: "t1" } },
      },
    ],
    output: { id: "t1" },
  },
  {
    action: "createTransfer",
    what: "of two amounts",
    inputs: { ...transfer, source_amount: 130 },
    exchanges: [],
    refused: "transfer_amount",
  },
  {
    action: "createTransfer",
    what: "of what the wallet pays",
    inputs: { ...transfer, transfer_amount: null, source_amount: 130 },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v1/transfers/create",
          json: {
            request_id: REQUEST_ID,
            ...transfer,
            transfer_amount: undefined,
            source_amount: 130,
          },
        },
        answer: { status: 201, body: { id: "t2" } },
      },
    ],
    output: { id: "t2" },
  },
  {
    action: "createTransfer",
    what: "of no amount",
    inputs: { ...transfer, transfer_amount: null },
    exchanges: [],
    refused: "transfer_amount",
  },
  {
    action: "getTransfer",
    what: "of an id that would be a way elsewhere",
    inputs: { id: "t1/cancel?x=1#y" },
    exchanges: [
      {
        request: { method: "GET", path: "/api/v1/transfers/t1%2Fcancel%3Fx%3D1%23y" },
        answer: { body: { id: "t1", status: "PAID" } },
      },
    ],
    output: { id: "t1", status: "PAID" },
  },
  { action: "getTransfer", what: "of a dot", inputs: { id: ".." }, exchanges: [], refused: "id" },
  {
    action: "listTransfers",
    what: "from the first on, by bookmarks and in pages of ten at least",
    inputs: { status: "FAILED", limit: 3 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/api/v1/transfers",
          query: { status: "FAILED", page: "0", page_size: "10" },
        },
        answer: { body: { items: [{ id: "t1" }, { id: "t2" }], page_after: "bm2" } },
      },
      {
        request: {
          method: "GET",
          path: "/api/v1/transfers",
          query: { status: "FAILED", page: "bm2", page_size: "10" },
        },
        answer: { body: { items: [{ id: "t3" }], page_before: "bm1", page_after: null } },
      },
    ],
    output: { transfers: [{ id: "t1" }, { id: "t2" }, { id: "t3" }], hasMore: false },
  },
];
