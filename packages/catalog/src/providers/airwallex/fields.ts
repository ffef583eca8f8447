import { z } from "zod";
import { json, number, text } from "../../action-input.ts";
import type { ActionInput, InputTraits } from "../../action-input.ts";
import type { Paging } from "../../provider-manifest.ts";

/** A currency by its code of ISO 4217. */
export function currency(key: string, traits: InputTraits = {}): ActionInput {
  const schema = z.string().regex(/^[A-Z]{3}$/, "must be a currency code such as USD");
  return text(key, { schema, ...traits });
}

/** An amount in whole units of its currency: 120.5. */
export function money(key: string, traits: InputTraits = {}): ActionInput {
  return number(key, { schema: z.number().positive(), ...traits });
}

/** A time with its offset; both bounds are inclusive. */
export function time(key: string): ActionInput {
  const description = "A time: 2026-01-31T00:00:00Z";
  return text(key, { schema: z.iso.datetime({ offset: true }), description });
}

export const requestId = text("request_id", {
  schema: z.string().min(1).max(50),
  description: "The same id is never booked twice; by default one that belongs to the step",
});

export const metadata = json("metadata", {
  schema: z.record(z.string(), z.string()),
  description: "Texts of your own by name",
});

/** Lists by page number, whose answers tell if there are more items. */
export function pagesOf(member: string): Paging {
  return {
    items: "items",
    member,
    size: { param: "page_size", max: 100 },
    next: { kind: "page", param: "page_num", first: 0, more: "has_more" },
  };
}
