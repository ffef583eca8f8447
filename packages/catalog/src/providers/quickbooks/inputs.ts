import { z } from "zod";
import { json, list, number, text } from "../../action-input.ts";
import type { ActionInput, InputTraits } from "../../action-input.ts";

/** The beginning of every path, which names the company. */
export const COMPANY = "/v3/company/{realmId}";

/** The latest minor version; versions before 75 are no longer served. */
export const MINOR_VERSION = 75;

/** The reference has a page for each entity. */
export const ENTITY_DOCS =
  "https://developer.intuit.com/app/developer/qbo/docs/api/accounting/all-entities";

/** The members that every entity has. */
export const entityOutputs = ["Id", "SyncToken", "MetaData"];

/** A reference to another entity, by its id. */
export function reference(key: string, title: string, traits: InputTraits = {}): ActionInput {
  return text(key, { title, description: "Its id", as: `${key}.value`, ...traits });
}

/** A day: `2026-01-31`. */
export function day(key: string, title: string, description?: string): ActionInput {
  const schema = z.string().regex(/^\d{4}-\d\d-\d\d$/, "must be a date: 2026-01-31");
  return text(key, { title, description, schema });
}

/** An amount in the transaction's currency. */
export function amount(key: string, title: string, traits: InputTraits = {}): ActionInput {
  return number(key, { title, schema: z.number().min(0), ...traits });
}

/** The lines of a transaction, optionally of these kinds. */
export function lines(kinds: readonly string[] | null, traits: InputTraits = {}): ActionInput {
  const of = z.looseObject({
    DetailType: (kinds === null ? z.string() : z.enum(kinds)).optional(),
    Amount: z.number().optional(),
    Description: z.string().max(4_000).optional(),
  });
  return list("Line", { title: "Lines", of, ...traits });
}

/** The id of an entity. */
export const id = text("Id", {
  title: "Id",
  schema: z.string().regex(/^\d{1,20}$/, "must be an id, which is a number"),
  required: true,
});

export const docNumber = text("DocNumber", { title: "Number", schema: z.string().max(21) });
export const txnDate = day("TxnDate", "Date", "Today by default");
export const privateNote = text("PrivateNote", {
  title: "Private note",
  control: "long-input",
  schema: z.string().max(4_000),
});
export const currency = reference("CurrencyRef", "Currency", { description: "ISO 4217: USD" });

/** The fields without an input of the action. */
export const moreFields = json("fields", {
  title: "More fields",
  description: "In the words of the reference",
  as: "",
});
