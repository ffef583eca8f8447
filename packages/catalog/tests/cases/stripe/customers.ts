import type { ActionCase } from "../action-case.ts";

/** Customers and their charges. */
export const customers: readonly ActionCase[] = [
  {
    action: "createCustomer",
    inputs: { email: "ada@example.com", metadata: { order: "17" } },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/v1/customers",
          form: { email: "ada@example.com", "metadata[order]": "17" },
        },
        answer: { body: { id: "cus_1", object: "customer", email: "ada@example.com" } },
      },
    ],
    output: { id: "cus_1", object: "customer", email: "ada@example.com" },
  },
  {
    action: "createCustomer",
    what: "with an address that Stripe refuses",
    inputs: { email: "nobody" },
    exchanges: [
      {
        request: { method: "POST", path: "/v1/customers", form: { email: "nobody" } },
        answer: {
          status: 400,
          body: {
            error: {
              code: "email_invalid",
              message: "Invalid email address: nobody",
              type: "invalid_request_error",
            },
          },
        },
      },
    ],
    failure: {
      status: 400,
      code: "email_invalid",
      message: "Invalid email address: nobody",
      retryable: false,
    },
  },
  {
    action: "getCustomer",
    inputs: { customer: "cus_1/x" },
    exchanges: [
      {
        request: { method: "GET", path: "/v1/customers/cus_1%2Fx" },
        answer: { body: { id: "cus_1" } },
      },
    ],
    output: { id: "cus_1" },
  },
  {
    action: "listCharges",
    inputs: { customer: "cus_1", limit: 3 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: "/v1/charges",
          query: { customer: "cus_1", limit: "3" },
        },
        answer: { body: { data: [{ id: "ch_3" }, { id: "ch_2" }], has_more: true } },
      },
      {
        request: {
          method: "GET",
          path: "/v1/charges",
          query: { customer: "cus_1", limit: "1", starting_after: "ch_2" },
        },
        answer: { body: { data: [{ id: "ch_1" }], has_more: true } },
      },
    ],
    output: { charges: [{ id: "ch_3" }, { id: "ch_2" }, { id: "ch_1" }], hasMore: true },
  },
  {
    action: "updateCustomer",
    inputs: { customer: "cus_1", address: { line1: "Main St 1", country: "US" } },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/v1/customers/cus_1",
          form: { "address[line1]": "Main St 1", "address[country]": "US" },
        },
        answer: { body: { id: "cus_1", object: "customer" } },
      },
    ],
    output: { id: "cus_1", object: "customer" },
  },
];
