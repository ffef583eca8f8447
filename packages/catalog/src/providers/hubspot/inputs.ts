import { isJsonObject } from "@workflow/json";
import { z } from "zod";
import { json, list, text } from "../../action-input.ts";
import type { ActionInput, InputTraits } from "../../action-input.ts";
import type { ActionManifest, RequestParts } from "../../provider-manifest.ts";

export const DOCS = "https://developers.hubspot.com/docs/api-reference";

/** HubSpot's own objects. Custom objects go by their id or full name. */
const OBJECT_TYPES = [
  "contacts",
  "companies",
  "deals",
  "tickets",
  "products",
  "line_items",
  "quotes",
  "notes",
  "tasks",
  "calls",
  "meetings",
  "emails",
];

/** The output's members of an action for one object. */
export const objectOutputs = ["id", "properties", "createdAt", "updatedAt", "archived"];

/** The message for a value that no property can have. */
export const SCALAR = "must be a text, a number, true or false";

/** The type of an object. */
export function objectType(key: string, title: string): ActionInput {
  const input = text(key, {
    title,
    description: "contacts, deals and so on, or a custom object's id: 2-3453932",
    control: "combobox",
    schema: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/, "must be the name or id of an object type"),
    required: true,
  });
  return { ...input, options: OBJECT_TYPES.map((id) => ({ id, label: id })) };
}

/** The id of a record. */
export function recordId(key: string, traits: InputTraits = {}): ActionInput {
  return text(key, {
    ...traits,
    schema: z.string().regex(/^\d{1,20}$/, "must be an id, which is a number"),
  });
}

/** A property that has an input of its own. */
export function property(key: string, traits: Parameters<typeof text>[1] = {}): ActionInput {
  return text(key, { as: `properties.${key}`, ...traits });
}

/** Values by the internal names of properties. */
export function properties(traits: InputTraits = {}): ActionInput {
  return json("properties", {
    title: "More properties",
    description: "Values by internal names, those of your own included",
    schema: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()], SCALAR)),
    ...traits,
  });
}

/** The names of properties to read. */
export const propertyNames = list("propertyNames", {
  title: "Properties",
  description: "The properties to return; by default HubSpot's own choice",
  as: "properties",
});

export const owner = property("hubspot_owner_id", {
  title: "Owner",
  description: "The id of an owner",
  schema: z.string().regex(/^\d{1,20}$/, "must be an id, which is a number"),
});

/** HubSpot's ids of associations, by the input that names the other record. */
export type AssociationTypes = Readonly<Record<string, number>>;

/** The inputs that name records to associate with the new one. */
export function associationInputs(types: AssociationTypes): ActionInput[] {
  return Object.keys(types).map((key) => recordId(key, { in: "none" }));
}

type Build = NonNullable<ActionManifest["request"]["build"]>;

/** Builds the body of a new record: property values as texts, associations with their types. */
export function buildRecord(types: AssociationTypes = {}): Build {
  return ({ parts, inputs }) => {
    const associations = Object.entries(types).flatMap(([key, associationTypeId]) => {
      const id = inputs[key];
      if (typeof id !== "string" || id === "") return [];
      const kind = { associationCategory: "HUBSPOT_DEFINED", associationTypeId };
      return [{ to: { id }, types: [kind] }];
    });
    return {
      ...parts,
      body: { ...propertiesOf(parts), ...(associations.length === 0 ? {} : { associations }) },
    };
  };
}

/** The `{properties}` of a body, with values as texts. Null and an empty text clear a property. */
export function propertiesOf({ body }: RequestParts): { properties: Record<string, string> } {
  const given = isJsonObject(body) && isJsonObject(body["properties"]) ? body["properties"] : {};
  const entries = Object.entries(given).map(([name, value]) => {
    const isScalar = typeof value === "string" || typeof value === "number";
    return [name, isScalar || typeof value === "boolean" ? String(value) : ""] as const;
  });
  return { properties: Object.fromEntries(entries) };
}
