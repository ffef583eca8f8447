import { z } from "zod";
import { choice, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import { fieldsInput } from "../../query-conditions.ts";
import { API, DOCS, fieldName, id, moreFields, record, reference, sobject } from "./inputs.ts";

const created = ["id", "success", "errors"];

export const createRecord: ActionManifest = {
  name: "createRecord",
  title: "Create a record",
  description: "Creates a record of any object.",
  docs: `${DOCS}/dome_sobject_create.htm`,
  inputs: [sobject, record],
  outputs: created,
  request: { method: "POST", path: `${API}/sobjects/{sobject}` },
  example: { sobject: "Account", record: { Name: "Express Logistics and Transport" } },
};

export const getRecord: ActionManifest = {
  name: "getRecord",
  title: "Get a record",
  description: "Reads a record by its id.",
  docs: `${DOCS}/dome_get_field_values.htm`,
  inputs: [
    sobject,
    id,
    fieldsInput("fields", { description: "All of them by default", in: "query", join: "," }),
  ],
  outputs: ["attributes", "Id"],
  request: { method: "GET", path: `${API}/sobjects/{sobject}/{id}` },
  readOnly: true,
  example: { sobject: "Account", id: "001D000000INjVe", fields: ["Id", "Name", "Industry"] },
};

export const updateRecord: ActionManifest = {
  name: "updateRecord",
  title: "Update a record",
  description: "Changes fields of a record.",
  docs: `${DOCS}/dome_update_fields.htm`,
  inputs: [sobject, id, record],
  outputs: ["id", "success"],
  request: { method: "PATCH", path: `${API}/sobjects/{sobject}/{id}` },
  answer: { read: (_, inputs) => ({ id: inputs["id"], success: true }) },
  example: { sobject: "Account", id: "001D000000INjVe", record: { BillingCity: "San Francisco" } },
};

export const upsertRecord: ActionManifest = {
  name: "upsertRecord",
  title: "Create or update a record",
  description: "Updates the record with this external id, or creates it.",
  docs: `${DOCS}/dome_upsert.htm`,
  inputs: [
    sobject,
    fieldName("externalIdField", "External id field"),
    text("externalId", { title: "External id", required: true }),
    record,
  ],
  outputs: [...created, "created"],
  request: { method: "PATCH", path: `${API}/sobjects/{sobject}/{externalIdField}/{externalId}` },
  example: {
    sobject: "Account",
    externalIdField: "CustomerNumber__c",
    externalId: "C-10042",
    record: { Name: "California Wheat Corporation" },
  },
};

export const deleteRecord: ActionManifest = {
  name: "deleteRecord",
  title: "Delete a record",
  description: "Moves a record to the recycle bin.",
  docs: `${DOCS}/dome_delete_record.htm`,
  inputs: [sobject, id],
  outputs: ["id", "success"],
  request: { method: "DELETE", path: `${API}/sobjects/{sobject}/{id}` },
  answer: { read: (_, inputs) => ({ id: inputs["id"], success: true }) },
  example: { sobject: "Account", id: "001D000000INjVe" },
};

export const createLead: ActionManifest = {
  name: "createLead",
  title: "Create a lead",
  description: "Creates a lead.",
  docs: "https://developer.salesforce.com/docs/atlas.en-us.object_reference.meta/object_reference/sforce_api_objects_lead.htm",
  inputs: [
    text("LastName", { title: "Last name", schema: z.string().max(80), required: true }),
    text("Company", { schema: z.string().max(255), required: true }),
    text("FirstName", { title: "First name", schema: z.string().max(40) }),
    text("Email", { schema: z.string().max(80) }),
    text("Phone", { schema: z.string().max(40) }),
    text("Title", { schema: z.string().max(128) }),
    text("Website", { schema: z.string().max(255) }),
    text("LeadSource", { title: "Lead source", description: "A value of your picklist" }),
    text("Status", { description: "A value of your picklist, which has a default" }),
    text("Description", { control: "long-input", schema: z.string().max(32_000) }),
    reference("OwnerId", "Owner", "A user or a queue; the connected user by default"),
    moreFields,
  ],
  outputs: created,
  request: { method: "POST", path: `${API}/sobjects/Lead` },
  example: { LastName: "Lovelace", Company: "Analytical Engines", Email: "ada@example.com" },
};

export const createTask: ActionManifest = {
  name: "createTask",
  title: "Create a task",
  description: "Creates a task, for a contact or lead and about any record.",
  docs: "https://developer.salesforce.com/docs/atlas.en-us.object_reference.meta/object_reference/sforce_api_objects_task.htm",
  inputs: [
    text("Subject", { schema: z.string().max(255), required: true }),
    text("ActivityDate", {
      title: "Due date",
      schema: z.string().regex(/^\d{4}-\d\d-\d\d$/, "must be a date: 2026-01-31"),
    }),
    choice("Priority", ["High", "Normal", "Low"]),
    text("Status", { description: "A value of your picklist, which has a default" }),
    text("Description", { control: "long-input", schema: z.string().max(32_000) }),
    reference("WhoId", "Contact or lead"),
    reference("WhatId", "Related to", "An account, an opportunity, a case or another record"),
    reference("OwnerId", "Owner", "A user or a queue; the connected user by default"),
    moreFields,
  ],
  outputs: created,
  request: { method: "POST", path: `${API}/sobjects/Task` },
  example: { Subject: "Call back", ActivityDate: "2026-12-01", WhoId: "003D000000QV9n2" },
};
