import type { ActionCase } from "../action-case.ts";
import { record } from "./record.ts";

function association(id: string, associationTypeId: number) {
  return { to: { id }, types: [{ associationCategory: "HUBSPOT_DEFINED", associationTypeId }] };
}

/** Deals, tickets, notes and their associations. */
export const dealsAndTickets: readonly ActionCase[] = [
  {
    action: "createDeal",
    inputs: {
      dealname: "Engine",
      dealstage: "appointmentscheduled",
      amount: 1500.5,
      contactId: "51",
      companyId: "67",
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/crm/v3/objects/deals",
          json: {
            properties: {
              dealname: "Engine",
              dealstage: "appointmentscheduled",
              amount: "1500.5",
            },
            associations: [association("51", 3), association("67", 341)],
          },
        },
        answer: { status: 201, body: { ...record, properties: { dealname: "Engine" } } },
      },
    ],
    output: { ...record, properties: { dealname: "Engine" } },
  },
  {
    action: "createTicket",
    inputs: { subject: "No steam", hs_pipeline_stage: "1", companyId: "67" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/crm/v3/objects/tickets",
          json: {
            properties: { subject: "No steam", hs_pipeline_stage: "1" },
            associations: [association("67", 339)],
          },
        },
        answer: { status: 201, body: { ...record, properties: { subject: "No steam" } } },
      },
    ],
    output: { ...record, properties: { subject: "No steam" } },
  },
  {
    action: "createNote",
    inputs: {
      hs_note_body: "Called.",
      hs_timestamp: "2026-11-22T10:00:00Z",
      contactId: "51",
      dealId: "9",
    },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/crm/v3/objects/notes",
          json: {
            properties: { hs_note_body: "Called.", hs_timestamp: "2026-11-22T10:00:00Z" },
            associations: [association("51", 202), association("9", 214)],
          },
        },
        answer: { status: 201, body: { ...record, properties: { hs_note_body: "Called." } } },
      },
    ],
    output: { ...record, properties: { hs_note_body: "Called." } },
  },
  {
    action: "associateObjects",
    inputs: {
      fromObjectType: "contacts",
      fromObjectId: "51",
      toObjectType: "companies",
      toObjectId: "67",
    },
    exchanges: [
      {
        request: {
          method: "PUT",
          path: "/crm/v4/objects/contacts/51/associations/default/companies/67",
        },
        answer: { body: { status: "COMPLETE", results: [{ from: { id: "51" } }] } },
      },
    ],
    output: { status: "COMPLETE", results: [{ from: { id: "51" } }] },
  },
];
