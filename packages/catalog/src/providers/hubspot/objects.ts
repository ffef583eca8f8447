import { z } from "zod";
import { list, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";
import {
  DOCS,
  objectOutputs,
  objectType,
  properties,
  propertiesOf,
  propertyNames,
  recordId,
  SCALAR,
} from "./inputs.ts";

const objectId = text("objectId", {
  title: "Record",
  description: "Its id, or its value of the id property",
  required: true,
});

const idProperty = text("idProperty", {
  title: "Id property",
  description: "A property with unique values that names the record instead of its id: email",
  in: "query",
});

export const getObject: ActionManifest = {
  name: "getObject",
  title: "Get a record",
  description: "Reads a contact, a deal or another record.",
  docs: `${DOCS}/crm-contacts-v3/guide`,
  inputs: [
    objectType("objectType", "Object type"),
    objectId,
    idProperty,
    { ...propertyNames, join: "," },
    list("associations", { description: "Object types whose ids to return as well", join: "," }),
  ],
  outputs: [...objectOutputs, "associations"],
  request: { method: "GET", path: "/crm/v3/objects/{objectType}/{objectId}" },
  readOnly: true,
  example: { objectType: "contacts", objectId: "ada@example.com", idProperty: "email" },
};

export const updateObject: ActionManifest = {
  name: "updateObject",
  title: "Update a record",
  description: "Changes properties of a contact, a deal or another record.",
  docs: `${DOCS}/crm-contacts-v3/guide`,
  inputs: [
    objectType("objectType", "Object type"),
    objectId,
    idProperty,
    properties({ title: "Properties", required: true }),
  ],
  outputs: objectOutputs,
  request: {
    method: "PATCH",
    path: "/crm/v3/objects/{objectType}/{objectId}",
    build: ({ parts }) => ({ ...parts, body: propertiesOf(parts) }),
  },
  example: { objectType: "deals", objectId: "5736445", properties: { dealstage: "closedwon" } },
};

const OPERATORS = [
  "EQ",
  "NEQ",
  "LT",
  "LTE",
  "GT",
  "GTE",
  "BETWEEN",
  "IN",
  "NOT_IN",
  "HAS_PROPERTY",
  "NOT_HAS_PROPERTY",
  "CONTAINS_TOKEN",
  "NOT_CONTAINS_TOKEN",
] as const;

const TEXT_OR_NUMBER = "must be a text or a number";

const filter = z.strictObject({
  propertyName: z.string().min(1),
  operator: z.enum(OPERATORS),
  value: z.union([z.string(), z.number(), z.boolean()], SCALAR).optional(),
  highValue: z.union([z.string(), z.number()], TEXT_OR_NUMBER).optional(),
  values: z.array(z.union([z.string(), z.number()], TEXT_OR_NUMBER)).optional(),
});

export const searchObjects: ActionManifest = {
  name: "searchObjects",
  title: "Search records",
  description: "Finds records by words and by values of properties; at most the first 10,000.",
  docs: `${DOCS}/search/guide`,
  inputs: [
    objectType("objectType", "Object type"),
    text("query", { title: "Words", schema: z.string().max(3_000) }),
    list("filterGroups", {
      title: "Filters",
      description:
        "{filters: [{propertyName, operator, value}]} each; all filters of one group have to hold",
      of: z.strictObject({ filters: z.array(filter).min(1).max(10) }),
    }),
    list("sorts", {
      description: "{propertyName, direction}",
      of: z.strictObject({
        propertyName: z.string().min(1),
        direction: z.enum(["ASCENDING", "DESCENDING"]).optional(),
      }),
    }),
    propertyNames,
  ],
  outputs: ["results", "hasMore"],
  request: { method: "POST", path: "/crm/v3/objects/{objectType}/search" },
  paging: {
    items: "results",
    member: "results",
    in: "body",
    size: { param: "limit", max: 200 },
    next: { kind: "cursor", from: "paging.next.after", param: "after" },
  },
  readOnly: true,
  example: {
    objectType: "contacts",
    filterGroups: [
      { filters: [{ propertyName: "email", operator: "CONTAINS_TOKEN", value: "*@example.com" }] },
    ],
    propertyNames: ["email", "lifecyclestage"],
  },
};

export const associateObjects: ActionManifest = {
  name: "associateObjects",
  title: "Associate records",
  description: "Associates two records in the usual way.",
  docs: `${DOCS}/crm-associations-v4/guide`,
  inputs: [
    objectType("fromObjectType", "From type"),
    recordId("fromObjectId", { title: "From", required: true }),
    objectType("toObjectType", "To type"),
    recordId("toObjectId", { title: "To", required: true }),
  ],
  outputs: ["status", "results", "startedAt", "completedAt"],
  request: {
    method: "PUT",
    path: "/crm/v4/objects/{fromObjectType}/{fromObjectId}/associations/default/{toObjectType}/{toObjectId}",
    build: ({ parts }) => ({ ...parts, body: undefined }),
  },
  example: {
    fromObjectType: "contacts",
    fromObjectId: "51",
    toObjectType: "companies",
    toObjectId: "67",
  },
};
