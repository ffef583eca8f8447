import { z } from "zod";
import { json, text } from "../../action-input.ts";

/** Summer '26; a version is served for at least three years. */
export const API = "/services/data/v67.0";

/** The reference's pages. */
export const DOCS = "https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest";

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

/** An object's API name. */
export const objectName = z.string().max(255).regex(NAME, "must be the API name of an object");

/** The object that an action is about. */
export const sobject = text("sobject", {
  title: "Object",
  description: "API name: Account, Opportunity, Invoice__c",
  schema: objectName,
  required: true,
  in: "none",
});

/** A record's id. */
export const id = text("id", {
  title: "Record id",
  description: "15 or 18 characters",
  schema: idSchema(),
  required: true,
});

/** Field names and values. */
export const record = json("record", {
  title: "Fields",
  description: "Values by the API names of fields: {Name, Industry, Region__c}",
  as: "",
  required: true,
});

/** Fields of the record without an input of the action. */
export const moreFields = json("record", {
  title: "More fields",
  description: "Values by the API names of fields, those of your own included",
  as: "",
});

/** The id of another record. */
export function reference(key: string, title: string, description?: string) {
  return text(key, { title, description, schema: idSchema() });
}

/** The API name of a field. */
export function fieldName(key: string, title: string) {
  return text(key, {
    title,
    schema: z.string().max(255).regex(NAME, "must be the API name of a field"),
    required: true,
  });
}

function idSchema() {
  return z
    .string()
    .regex(/^[A-Za-z0-9]{15}([A-Za-z0-9]{3})?$/, "must be an id of 15 or 18 characters");
}
