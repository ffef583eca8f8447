import type { ProviderManifest } from "../../provider-manifest.ts";
import { createContact, createInvoice, createOpportunity } from "./documents.ts";
import { createRecord, deleteRecord, getRecord, searchRecords, updateRecord } from "./records.ts";

/**
 * ERP, through the JSON-2 API of Odoo 19 and later. The older APIs need the database's name and a login
 * besides the key, which a connection does not have.
 */
export const odoo: ProviderManifest = {
  id: "odoo",
  name: "Odoo",
  description: "Contacts, opportunities, invoices and the records of every other model.",
  category: "erp",
  docs: "https://www.odoo.com/documentation/19.0/developer/reference/external_api.html",
  baseUrl: "https://{domain}",
  // The host selects the database. X-Odoo-Database is for servers that cannot tell by the host. A port is
  // allowed, a path is not.
  fieldForms: { domain: /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/i },
  auth: {
    kind: "apiKey",
    fields: [{ key: "domain", required: true, form: "host" }],
    accountField: "domain",
  },
  sign: { headers: { authorization: "Bearer {apiKey}" } },
  // Every user may read their own context.
  verify: {
    method: "POST",
    path: "/json/2/res.users/context_get",
    body: {},
    badStatuses: [401, 403, 404],
  },
  errors: {
    code: ["name"],
    message: ["message"],
    // Odoo answers 500 for every exception that is not the user's in its eyes, such as an unknown field.
    finalCodes: [
      "builtins.AttributeError",
      "builtins.KeyError",
      "builtins.TypeError",
      "builtins.ValueError",
      "psycopg2.errors.ForeignKeyViolation",
      "psycopg2.errors.NotNullViolation",
      "psycopg2.errors.UniqueViolation",
    ],
  },
  actions: [
    searchRecords,
    getRecord,
    createRecord,
    updateRecord,
    deleteRecord,
    createContact,
    createOpportunity,
    createInvoice,
  ],
};
