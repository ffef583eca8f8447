import { z } from "zod";
import { choice, number, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import {
  associationInputs,
  buildRecord,
  DOCS,
  objectOutputs,
  owner,
  properties,
  propertiesOf,
  property,
} from "./inputs.ts";

/**
 * Associations without a label, from the new record to the other. Their category is HUBSPOT_DEFINED.
 *
 * https://developers.hubspot.com/docs/api-reference/crm-associations-v4/guide#association-type-id-values
 */
const DEAL_TYPES = { contactId: 3, companyId: 341 };
const TICKET_TYPES = { contactId: 16, companyId: 339 };
const NOTE_TYPES = { contactId: 202, companyId: 190, dealId: 214, ticketId: 228 };

const person = [
  property("firstname", { title: "First name" }),
  property("lastname", { title: "Last name" }),
  property("phone"),
  property("company"),
  property("jobtitle", { title: "Job title" }),
  property("website"),
  property("lifecyclestage", { title: "Lifecycle stage", description: "lead, customer and so on" }),
  owner,
  properties(),
];

export const createContact: ActionManifest = {
  name: "createContact",
  title: "Create a contact",
  description: "Creates a contact. One with the same e-mail address is refused.",
  docs: `${DOCS}/crm-contacts-v3/guide`,
  inputs: [
    property("email", {
      title: "E-mail",
      requiredWithout: ["firstname", "lastname"],
    }),
    ...person,
  ],
  outputs: objectOutputs,
  request: { method: "POST", path: "/crm/v3/objects/contacts", build: buildRecord() },
  example: { email: "ada@example.com", firstname: "Ada", lastname: "Lovelace" },
};

export const upsertContact: ActionManifest = {
  name: "upsertContact",
  title: "Create or update a contact",
  description: "Updates the contact with this e-mail address, or creates it.",
  docs: `${DOCS}/legacy/crm/objects/contacts/batch/upsert-contacts`,
  inputs: [text("email", { title: "E-mail", required: true, in: "none" }), ...person],
  outputs: [...objectOutputs, "new"],
  request: {
    method: "POST",
    path: "/crm/v3/objects/contacts/batch/upsert",
    build: ({ parts, inputs }) => {
      const contact = { idProperty: "email", id: inputs["email"], ...propertiesOf(parts) };
      return { ...parts, body: { inputs: [contact] } };
    },
  },
  answer: { pick: "results.0" },
  example: { email: "ada@example.com", lifecyclestage: "customer" },
};

export const createCompany: ActionManifest = {
  name: "createCompany",
  title: "Create a company",
  description: "Creates a company.",
  docs: `${DOCS}/crm-companies-v3/guide`,
  inputs: [
    property("name"),
    property("domain", {
      description: "HubSpot tells companies apart by it",
      requiredWithout: ["name"],
    }),
    property("phone"),
    property("industry", { description: "One of HubSpot's: COMPUTER_SOFTWARE" }),
    property("city"),
    property("country"),
    property("website"),
    owner,
    properties(),
  ],
  outputs: objectOutputs,
  request: { method: "POST", path: "/crm/v3/objects/companies", build: buildRecord() },
  example: { name: "Analytical Engines", domain: "engines.example" },
};

export const createDeal: ActionManifest = {
  name: "createDeal",
  title: "Create a deal",
  description: "Creates a deal, for a contact and a company.",
  docs: `${DOCS}/crm-deals-v3/guide`,
  inputs: [
    property("dealname", { title: "Name", required: true }),
    property("dealstage", {
      title: "Stage",
      description: "Its internal id: appointmentscheduled, closedwon, 123456",
      required: true,
    }),
    property("pipeline", {
      description: "The internal id of a pipeline; without it HubSpot takes the default one",
    }),
    number("amount", { as: "properties.amount" }),
    property("closedate", {
      title: "Close date",
      description: "An ISO time: 2026-12-31T00:00:00Z",
    }),
    owner,
    ...associationInputs(DEAL_TYPES),
    properties(),
  ],
  outputs: objectOutputs,
  request: { method: "POST", path: "/crm/v3/objects/deals", build: buildRecord(DEAL_TYPES) },
  example: { dealname: "Engine", dealstage: "appointmentscheduled", amount: 1500 },
};

export const createTicket: ActionManifest = {
  name: "createTicket",
  title: "Create a ticket",
  description: "Creates a ticket, for a contact and a company.",
  docs: `${DOCS}/crm-tickets-v3/guide`,
  inputs: [
    property("subject", { required: true }),
    property("hs_pipeline_stage", { title: "Stage", description: "Its id", required: true }),
    property("hs_pipeline", {
      title: "Pipeline",
      description: "The id of a pipeline; without it HubSpot takes the default one",
    }),
    property("content", { control: "long-input" }),
    choice("hs_ticket_priority", ["LOW", "MEDIUM", "HIGH", "URGENT"], {
      title: "Priority",
      as: "properties.hs_ticket_priority",
    }),
    owner,
    ...associationInputs(TICKET_TYPES),
    properties(),
  ],
  outputs: objectOutputs,
  request: { method: "POST", path: "/crm/v3/objects/tickets", build: buildRecord(TICKET_TYPES) },
  example: { subject: "No steam", hs_pipeline_stage: "1", hs_ticket_priority: "HIGH" },
};

export const createNote: ActionManifest = {
  name: "createNote",
  title: "Add a note",
  description: "Adds a note to records' timelines.",
  docs: `${DOCS}/crm-notes-v3/guide`,
  inputs: [
    property("hs_note_body", {
      title: "Text",
      control: "long-input",
      schema: z.string().max(65_536),
      required: true,
    }),
    property("hs_timestamp", {
      title: "Time",
      description: "Where it stands in the timeline: 2026-11-22T10:00:00Z, or {{run.startedAt}}",
      required: true,
    }),
    owner,
    ...associationInputs(NOTE_TYPES),
    properties(),
  ],
  outputs: objectOutputs,
  request: { method: "POST", path: "/crm/v3/objects/notes", build: buildRecord(NOTE_TYPES) },
  example: {
    hs_note_body: "Called, will call again.",
    hs_timestamp: "2026-11-22T10:00:00Z",
    contactId: "51",
  },
};
