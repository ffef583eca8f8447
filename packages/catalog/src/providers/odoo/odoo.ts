import type { ProviderManifest } from "../../provider-manifest.ts";
import { createContact, createInvoice, createOpportunity } from "./documents.ts";
import { createRecord, deleteRecord, getRecord, searchRecords, updateRecord } from "./records.ts";

/**
 * ERP, through the JSON-2 API that Odoo has since version 19. Its predecessors can't be called with what a
 * connection has: they want the database's name and a login besides the key.
 */
export const odoo: ProviderManifest = {
  id: "odoo",
  name: "Odoo",
  description: "Contacts, opportunities, invoices and the records of every other model.",
  category: "erp",
  docs: "https://www.odoo.com/documentation/19.0/developer/reference/external_api.html",
  baseUrl: "https://{domain}",
  // Its host says which database is meant; X-Odoo-Database would be for servers that can't tell by the host.
  // With a port where it needs one, and nothing that would be a path to elsewhere.
  fieldForms: { domain: /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/i },
  auth: {
    kind: "apiKey",
    fields: [{ key: "domain", required: true, form: "host" }],
    accountField: "domain",
  },
  sign: { headers: { authorization: "Bearer {apiKey}" } },
  // The context of a user's own is what every user may read.
  verify: {
    method: "POST",
    path: "/json/2/res.users/context_get",
    body: {},
    badStatuses: [401, 403, 404],
  },
  errors: {
    code: ["name"],
    message: ["message"],
    // Odoo answers 500 for every exception that it does not know as a user's: a field that does not exist.
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
