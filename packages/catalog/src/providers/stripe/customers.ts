import { z } from "zod";
import { text } from "../../action-input.ts";
import type { ActionInput } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import { address, createdRange, description, id, metadata, stripePages } from "./inputs.ts";

const OUTPUTS = [
  "id",
  "object",
  "address",
  "balance",
  "created",
  "currency",
  "delinquent",
  "description",
  "email",
  "invoice_prefix",
  "livemode",
  "metadata",
  "name",
  "phone",
];

const details: readonly ActionInput[] = [
  text("email", { schema: z.string().max(512) }),
  text("name", { schema: z.string().max(256), description: "Full name or business name" }),
  description,
  text("phone", { schema: z.string().max(20) }),
  address,
  metadata,
];

const createCustomer: ActionManifest = {
  name: "createCustomer",
  title: "Create a customer",
  description: "Creates a customer.",
  docs: "https://docs.stripe.com/api/customers/create",
  inputs: details,
  outputs: OUTPUTS,
  request: { method: "POST", path: "/v1/customers" },
  example: { email: "ada@example.com", name: "Ada Lovelace" },
};

const updateCustomer: ActionManifest = {
  name: "updateCustomer",
  title: "Update a customer",
  description: "Changes what is given of a customer; the rest stays.",
  docs: "https://docs.stripe.com/api/customers/update",
  inputs: [id("customer", "cus", { required: true }), ...details],
  outputs: OUTPUTS,
  request: { method: "POST", path: "/v1/customers/{customer}" },
  example: { customer: "cus_NffrFeUfNV2Hib", metadata: { crm_id: "17" } },
};

const getCustomer: ActionManifest = {
  name: "getCustomer",
  title: "Get a customer",
  description: "Reads a customer.",
  docs: "https://docs.stripe.com/api/customers/retrieve",
  inputs: [id("customer", "cus", { required: true })],
  outputs: OUTPUTS,
  request: { method: "GET", path: "/v1/customers/{customer}" },
  readOnly: true,
  example: { customer: "cus_NffrFeUfNV2Hib" },
};

const listCustomers: ActionManifest = {
  name: "listCustomers",
  title: "List customers",
  description: "Lists customers, the newest first; by e-mail address it finds one.",
  docs: "https://docs.stripe.com/api/customers/list",
  inputs: [
    text("email", {
      schema: z.string().max(512),
      description: "Exactly this address, case included",
    }),
    ...createdRange,
  ],
  outputs: ["customers", "hasMore"],
  request: { method: "GET", path: "/v1/customers" },
  paging: stripePages("customers"),
  readOnly: true,
  example: { email: "ada@example.com" },
};

export const customerActions = [createCustomer, updateCustomer, getCustomer, listCustomers];
