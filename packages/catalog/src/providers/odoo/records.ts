import { z } from "zod";
import { json, list, number, text } from "../../action-input.ts";
import { InvalidInputError } from "../../invalid-input-error.ts";
import type { ActionManifest, ProviderAnswer } from "../../provider-manifest.ts";

const ORM = "https://www.odoo.com/documentation/19.0/developer/reference/backend/orm.html";

const model = text("model", {
  schema: z
    .string()
    .regex(/^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$/, "must be a model such as res.partner"),
  required: true,
  description: "Its technical name: res.partner, sale.order",
});

const id = number("id", { schema: z.int().min(1), required: true, title: "Record", in: "none" });

const fields = list("fields", {
  of: z.string().min(1),
  description: "Names of the fields to read; by default those that the model shows",
});

const values = json("values", {
  schema: z.record(z.string(), z.unknown()),
  required: true,
  description: 'Values by field: {"name": "Ada"}; of relations the id, or commands',
});

/** The context of every call: language, company, time zone. */
export const context = json("context", {
  schema: z.record(z.string(), z.unknown()),
  description: 'Language and companies to work in: {"lang": "en_US", "allowed_company_ids": [1]}',
});

/** `create` returns the ids of the new records, and the call creates one. */
export function readCreated({ body }: ProviderAnswer): unknown {
  return { id: Array.isArray(body) ? body[0] : body };
}

/** Adds the new record's values to the body. */
export function createBody(body: unknown, record: unknown): Record<string, unknown> {
  return { ...Object(body), vals_list: [record] };
}

export const searchRecords: ActionManifest = {
  name: "searchRecords",
  title: "Search records",
  description: "Lists the records of a model that match a domain.",
  docs: `${ORM}#odoo.models.Model.search_read`,
  inputs: [
    model,
    json("domain", {
      schema: z.array(z.unknown()),
      description: 'Conditions: [["is_company", "=", true]]; by default every record matches',
    }),
    fields,
    text("order", { description: "By default id: name asc, id desc" }),
    context,
  ],
  outputs: ["records", "hasMore"],
  request: {
    method: "POST",
    path: "/json/2/{model}/search_read",
    // Pages need a stable order.
    build: ({ parts }) => ({ ...parts, body: { domain: [], order: "id", ...Object(parts.body) } }),
  },
  paging: {
    items: "",
    member: "records",
    size: { param: "limit", max: 200 },
    in: "body",
    next: { kind: "offset", param: "offset" },
  },
  readOnly: true,
  example: {
    model: "res.partner",
    domain: [["is_company", "=", true]],
    fields: ["name", "email"],
  },
};

export const getRecord: ActionManifest = {
  name: "getRecord",
  title: "Get a record",
  description: "Reads a record by its id.",
  docs: `${ORM}#odoo.models.Model.read`,
  inputs: [model, id, fields, context],
  outputs: ["record"],
  request: {
    method: "POST",
    path: "/json/2/{model}/read",
    build: ({ parts, inputs }) => ({
      ...parts,
      body: { ...Object(parts.body), ids: [inputs["id"]] },
    }),
  },
  answer: { pick: "0", member: "record" },
  readOnly: true,
  example: { model: "res.partner", id: 25, fields: ["name", "email"] },
};

export const createRecord: ActionManifest = {
  name: "createRecord",
  title: "Create a record",
  description: "Creates a record of any model.",
  docs: `${ORM}#odoo.models.Model.create`,
  inputs: [model, { ...values, in: "none" }, context],
  outputs: ["id"],
  request: {
    method: "POST",
    path: "/json/2/{model}/create",
    build: ({ parts, inputs }) => ({ ...parts, body: createBody(parts.body, inputs["values"]) }),
  },
  answer: { read: readCreated },
  example: { model: "res.partner", values: { name: "Ada Lovelace", email: "ada@example.com" } },
};

export const updateRecord: ActionManifest = {
  name: "updateRecord",
  title: "Update a record",
  description: "Changes fields of a record; those that are not named stay as they are.",
  docs: `${ORM}#odoo.models.Model.write`,
  inputs: [model, id, { ...values, in: "none" }, context],
  outputs: ["success"],
  request: {
    method: "POST",
    path: "/json/2/{model}/write",
    build: ({ parts, inputs }) => {
      if (Object.keys(Object(inputs["values"])).length === 0) {
        throw new InvalidInputError("values", "must name a field at least");
      }
      return {
        ...parts,
        body: { ...Object(parts.body), ids: [inputs["id"]], vals: inputs["values"] },
      };
    },
  },
  answer: { member: "success" },
  example: { model: "res.partner", id: 25, values: { phone: "+44 20 7946 0000" } },
};

export const deleteRecord: ActionManifest = {
  name: "deleteRecord",
  title: "Delete a record",
  description: "Deletes a record for good.",
  docs: `${ORM}#odoo.models.Model.unlink`,
  inputs: [model, id, context],
  outputs: ["success"],
  request: {
    method: "POST",
    path: "/json/2/{model}/unlink",
    build: ({ parts, inputs }) => ({
      ...parts,
      body: { ...Object(parts.body), ids: [inputs["id"]] },
    }),
  },
  answer: { member: "success" },
  example: { model: "res.partner", id: 25 },
};
