import { z } from "zod";
import { choice, flag, json, number, text } from "../../action-input.ts";
import type { ActionInput } from "../../action-input.ts";
import type { ActionManifest, RequestParts } from "../../provider-manifest.ts";
import { context, createBody, readCreated } from "./records.ts";

const ORM = "https://www.odoo.com/documentation/19.0/developer/reference/backend/orm.html";

const reference = { schema: z.int().min(1) };

/** Fields without an input of the action; inputs take precedence. */
const otherValues = json("values", {
  title: "Further values",
  schema: z.record(z.string(), z.unknown()),
  description: "Values of other fields of the model, by name",
  in: "none",
});

/** `context` is an argument of the call, any other input a field of the record. */
function toRecord(
  { body }: RequestParts,
  { values }: Readonly<Record<string, unknown>>,
  fixed: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const { context: around, ...record } = Object(body);
  return createBody(around === undefined ? {} : { context: around }, {
    ...fixed,
    ...Object(values),
    ...record,
  });
}

/** Creates an action for new records of one model, with an input for each usual field. */
function creator(
  name: string,
  model: string,
  about: Pick<ActionManifest, "title" | "description" | "example"> & {
    inputs: readonly ActionInput[];
    fixed?: Readonly<Record<string, unknown>>;
  },
): ActionManifest {
  const { inputs, fixed, ...rest } = about;
  return {
    name,
    ...rest,
    docs: `${ORM}#odoo.models.Model.create`,
    inputs: [...inputs, otherValues, context],
    outputs: ["id"],
    request: {
      method: "POST",
      path: `/json/2/${model}/create`,
      build: (call) => ({ ...call.parts, body: toRecord(call.parts, call.inputs, fixed) }),
    },
    answer: { read: readCreated },
  };
}

export const createContact = creator("createContact", "res.partner", {
  title: "Create a contact",
  description: "Creates a person or a company.",
  inputs: [
    text("name", { required: true }),
    flag("is_company", { title: "Is a company" }),
    text("email"),
    text("phone"),
    text("website"),
    text("street"),
    text("street2"),
    text("city"),
    text("zip"),
    number("country_id", { ...reference, title: "Country", description: "Id in res.country" }),
    number("parent_id", {
      ...reference,
      title: "Company",
      description: "Id of the contact's company",
    }),
    text("vat", { title: "Tax id" }),
    text("ref", { title: "Reference" }),
  ],
  example: { name: "Ada Lovelace", email: "ada@example.com", city: "London" },
});

export const createOpportunity = creator("createOpportunity", "crm.lead", {
  title: "Create an opportunity",
  description: "Creates an opportunity or a lead; needs Odoo's CRM.",
  inputs: [
    text("name", { title: "Subject", required: true }),
    choice("type", [
      { id: "opportunity", label: "Opportunity" },
      { id: "lead", label: "Lead" },
    ]),
    number("partner_id", { ...reference, title: "Customer", description: "Id in res.partner" }),
    text("partner_name", { title: "Company", description: "For one that is no contact yet" }),
    text("contact_name"),
    text("email_from", { title: "E-mail" }),
    text("phone"),
    number("expected_revenue", { schema: z.number().min(0) }),
    number("probability", { schema: z.number().min(0).max(100), description: "In percent" }),
    text("date_deadline", { schema: z.iso.date(), title: "Expected closing" }),
    number("user_id", { ...reference, title: "Salesperson", description: "Id in res.users" }),
    number("team_id", { ...reference, title: "Sales team", description: "Id in crm.team" }),
    text("description", { control: "long-input" }),
  ],
  fixed: { type: "opportunity" },
  example: { name: "Ten engines", partner_name: "Lovelace Parts", expected_revenue: 12000 },
});

const invoiceLine = z.strictObject({
  name: z.string().optional(),
  product_id: z.int().min(1).optional(),
  quantity: z.number().optional(),
  price_unit: z.number().optional(),
  discount: z.number().min(0).max(100).optional(),
  account_id: z.int().min(1).optional(),
  tax_ids: z.array(z.int().min(1)).optional(),
});

/** The ORM's commands: [0, 0, values] creates a line, [6, 0, ids] sets its taxes. */
function toCommands(lines: unknown): unknown[] {
  return z
    .array(invoiceLine)
    .parse(lines)
    .map(({ tax_ids: taxes, ...line }) => [
      0,
      0,
      taxes === undefined ? line : { ...line, tax_ids: [[6, 0, taxes]] },
    ]);
}

const invoice = creator("createInvoice", "account.move", {
  title: "Create an invoice",
  description: "Creates a draft of an invoice, a bill or a credit note.",
  inputs: [
    choice(
      "move_type",
      [
        { id: "out_invoice", label: "Customer's invoice" },
        { id: "out_refund", label: "Customer's credit note" },
        { id: "in_invoice", label: "Vendor's bill" },
        { id: "in_refund", label: "Vendor's credit note" },
      ],
      { title: "Kind", required: true },
    ),
    number("partner_id", {
      ...reference,
      title: "Customer or vendor",
      required: true,
      description: "Id in res.partner",
    }),
    json("invoice_line_ids", {
      title: "Lines",
      schema: z.array(invoiceLine).min(1),
      required: true,
      description: "name or product_id, quantity, price_unit, tax_ids each",
    }),
    text("invoice_date", { schema: z.iso.date(), description: "A date: 2026-01-31" }),
    text("invoice_date_due", { schema: z.iso.date(), title: "Due date" }),
    text("ref", { title: "Reference" }),
    number("currency_id", { ...reference, title: "Currency", description: "Id in res.currency" }),
    number("journal_id", { ...reference, title: "Journal", description: "Id in account.journal" }),
  ],
  example: {
    move_type: "out_invoice",
    partner_id: 25,
    invoice_date: "2026-01-31",
    invoice_line_ids: [{ name: "Platform, January", quantity: 1, price_unit: 1200, tax_ids: [3] }],
  },
});

export const createInvoice: ActionManifest = {
  ...invoice,
  request: {
    ...invoice.request,
    build: ({ parts, inputs }) => {
      const lines = { invoice_line_ids: toCommands(inputs["invoice_line_ids"]) };
      const body = { ...Object(parts.body), ...lines };
      return { ...parts, body: toRecord({ ...parts, body }, inputs) };
    },
  },
};
