import { z } from "zod";
import { flag, list, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import { DOCS, id, readLocation, record, RECORDS, recordType, written } from "./inputs.ts";

const type = recordType("recordType", "Record type");

/** Names of fields or sublists. */
function names(key: string, title: string, description: string) {
  const of = z.string().regex(/^[A-Za-z][A-Za-z0-9_.]*$/, "must be a name");
  return list(key, { title, description, of, in: "query", join: "," });
}

/**
 * NetSuite's X-NetSuite-Idempotency-Key applies to asynchronous requests only, whose answer is a job instead
 * of a record: https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/subsect_164494900632.html
 */
export const createRecord: ActionManifest = {
  name: "createRecord",
  title: "Create a record",
  description: "Creates a record of any type. Create or update is safe to repeat, this is not.",
  docs: `${DOCS}/section_1545141395.html`,
  inputs: [type, record],
  outputs: written,
  request: { method: "POST", path: `${RECORDS}/{recordType}` },
  answer: readLocation,
  example: {
    recordType: "customer",
    record: { companyName: "My Company", subsidiary: { id: "1" } },
  },
};

export const getRecord: ActionManifest = {
  name: "getRecord",
  title: "Get a record",
  description: "Reads a record by its internal id.",
  docs: `${DOCS}/section_1545141500.html`,
  inputs: [
    type,
    id,
    names("fields", "Fields", "All fields by default"),
    flag("expandSubResources", { title: "With sublists", description: "Lines of an order" }),
  ],
  outputs: ["id", "links"],
  request: { method: "GET", path: `${RECORDS}/{recordType}/{id}` },
  readOnly: true,
  example: { recordType: "salesOrder", id: "107", expandSubResources: true },
};

export const updateRecord: ActionManifest = {
  name: "updateRecord",
  title: "Update a record",
  description: "Changes fields of a record.",
  docs: `${DOCS}/section_1545142173.html`,
  inputs: [
    type,
    id,
    record,
    names("replace", "Sublists to replace", "Lines are added to the others"),
  ],
  outputs: written,
  request: { method: "PATCH", path: `${RECORDS}/{recordType}/{id}` },
  answer: readLocation,
  example: { recordType: "customer", id: "107", record: { phone: "+1 555 0100" } },
};

export const upsertRecord: ActionManifest = {
  name: "upsertRecord",
  title: "Create or update a record",
  description: "Updates the record with this external id, or creates it.",
  docs: `${DOCS}/section_156335203191.html`,
  inputs: [type, text("externalId", { title: "External id", required: true }), record],
  outputs: written,
  request: { method: "PUT", path: `${RECORDS}/{recordType}/eid:{externalId}` },
  answer: readLocation,
  example: {
    recordType: "customer",
    externalId: "CID002",
    record: { firstName: "John", lastName: "Smith" },
  },
};

export const transformRecord: ActionManifest = {
  name: "transformRecord",
  title: "Make one record of another",
  description: "Bills a sales order, receives a purchase order, pays an invoice and so on.",
  docs: `${DOCS}/section_157901123882.html`,
  inputs: [type, id, recordType("targetType", "Into"), { ...record, required: false }],
  outputs: written,
  request: { method: "POST", path: `${RECORDS}/{recordType}/{id}/!transform/{targetType}` },
  answer: readLocation,
  example: { recordType: "salesOrder", id: "3", targetType: "invoice" },
};
