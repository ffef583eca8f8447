import { z } from "zod";
import { json, number, text } from "../../action-input.ts";
import type { ActionInput, InputTraits } from "../../action-input.ts";
import type { Paging } from "../../provider-manifest.ts";

/** The id of a Stripe object. */
export function id(
  key: string,
  prefix: string,
  traits: Omit<InputTraits, "description"> = {},
): ActionInput {
  return text(key, { schema: z.string().max(255), description: `${prefix}_…`, ...traits });
}

/** Three letters in lower case, as Stripe writes currencies. */
export function currency(traits: InputTraits = {}): ActionInput {
  return text("currency", {
    schema: z.string().regex(/^[a-z]{3}$/, "must be three lower-case letters such as usd"),
    description: "Three letters in lower case: usd",
    ...traits,
  });
}

/** Money in the currency's smallest unit. */
export function amount(traits: InputTraits & { schema?: z.ZodInt } = {}): ActionInput {
  return number("amount", {
    schema: z.int().min(1).max(999_999_999_999),
    description: "In the currency's smallest unit: 1099 for $10.99",
    ...traits,
  });
}

/** A time in seconds since 1970. */
export function time(key: string, traits: InputTraits = {}): ActionInput {
  return number(key, {
    schema: z.int().min(0),
    description: "Seconds since 1970 (Unix time)",
    ...traits,
  });
}

/** Filters by the time of creation. */
export const createdRange: readonly ActionInput[] = [
  time("created_gte", { title: "Created from", as: "created[gte]" }),
  time("created_lte", { title: "Created until", as: "created[lte]" }),
];

export const metadata: ActionInput = json("metadata", {
  description: "Up to 50 keys of your own; an empty value removes a key",
  schema: z
    .record(
      z.string().max(40),
      z.union(
        [z.string().max(500), z.number(), z.boolean()],
        "must be a text of up to 500 characters",
      ),
    )
    .refine((value) => Object.keys(value).length <= 50, "must have at most 50 keys"),
});

export const description: ActionInput = text("description", { control: "long-input" });

const addressSchema = z.strictObject({
  line1: z.string().optional(),
  line2: z.string().optional(),
  city: z.string().optional(),
  state: z.string().optional(),
  postal_code: z.string().optional(),
  country: z.string().length(2).optional(),
});

export const address: ActionInput = json("address", {
  description: "line1, line2, city, state, postal_code, country (two letters)",
  schema: addressSchema,
});

/** The paging of Stripe's lists. */
export function stripePages(member: string): Paging {
  return {
    items: "data",
    member,
    size: { param: "limit", max: 100 },
    next: { kind: "last", from: "id", param: "starting_after", more: "has_more" },
  };
}
