import { z } from "zod";
import { json, list, text } from "../../action-input.ts";
import type { Paging } from "../../provider-manifest.ts";

export const currencyCode = z.string().regex(/^[A-Z]{3}$/, "must be a currency code such as USD");

export const amount = z.strictObject({
  amount: z.string().regex(/^-?\d+(\.\d+)?$/, 'must be a decimal number in quotes: "120.50"'),
  currency: currencyCode,
});

const address = z.strictObject({
  line1: z.string().min(1),
  line2: z.string().optional(),
  city: z.string().min(1),
  state: z.string().min(1),
  zip_code: z.string().min(1),
  country: z.string().regex(/^[A-Z]{2}$/, "must be a country code such as US"),
});

const externalReference = z.strictObject({
  type: z.string().min(1),
  id: z.string().min(1),
  url: z.url().optional(),
});

export const fieldAssignment = z.strictObject({ field_id: z.guid(), field_value_id: z.guid() });

export const period = z.strictObject({ start: z.iso.date(), end: z.iso.date() });

const exchangeRate = z.strictObject({
  base: currencyCode,
  target: currencyCode,
  rate: z.string().min(1),
  date: z.iso.date(),
});

export const A_DATE = { schema: z.iso.date(), description: "A date: 2026-01-31" };
export const ADDRESS = {
  schema: address,
  description: "line1, line2, city, state, zip_code, country",
};

export const externalReferences = list("external_references", {
  of: externalReference,
  description: "Ids at other systems, of the kinds set up in Rillet: type, id and url each",
});

export const subsidiaryId = text("subsidiary_id", {
  title: "Subsidiary",
  schema: z.guid(),
  description: "Its id; for organizations of several",
});

export const exchange = json("exchange_rate", {
  schema: exchangeRate,
  description: "base, target, rate and date",
});

export const updatedAfter = text("updated_after", {
  schema: z.iso.datetime(),
  description: "Only what was changed after this time: 2026-01-31T00:00:00Z",
  as: "updated.gt",
});

/** Rillet's lists continue with `pagination.next_cursor`, which the last page lacks. */
export function pagesOf(member: string): Paging {
  return {
    items: member,
    member,
    size: { param: "limit", max: 100 },
    next: { kind: "cursor", from: "pagination.next_cursor", param: "cursor" },
  };
}
