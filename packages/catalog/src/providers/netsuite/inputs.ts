import { z } from "zod";
import { json, text } from "../../action-input.ts";
import type { ActionManifest } from "../../provider-manifest.ts";

export const DOCS = "https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help";
export const RECORDS = "/services/rest/record/v1";

/** A record type's name in paths: `salesOrder`, `customrecord_asset`. */
export function recordType(key: string, title: string) {
  return text(key, {
    title,
    description: "customer, salesOrder, customrecord_asset",
    schema: z
      .string()
      .max(100)
      .regex(/^[A-Za-z][A-Za-z0-9_]*$/, "must be the name of a record type"),
    required: true,
  });
}

export const id = text("id", {
  title: "Internal id",
  schema: z.string().regex(/^-?\d{1,20}$/, "must be an internal id, which is a number"),
  required: true,
});

/** Fields by their names, other records as `{id}`. */
export const record = json("record", {
  title: "Fields",
  description: "{companyName, subsidiary: {id}} and so on",
  as: "",
  required: true,
});

/** The answer to a write is 204 with the record's address, whose last segment is the internal id. */
export const readLocation: NonNullable<ActionManifest["answer"]> = {
  read: ({ headers, body }) => {
    const { location } = headers;
    if (location === undefined) return body;
    const [, found = null] = /\/([^/?#]+)\/?(?:[?#].*)?$/.exec(location) ?? [];
    return { id: found, location };
  },
};

export const written = ["id", "location"];
