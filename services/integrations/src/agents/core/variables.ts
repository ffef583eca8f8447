import { describeKind } from "@workflow/catalog";
import { isJsonObject } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import { z } from "zod";

/** Variables that several core agents have. Lengths are in UTF-16 units. */

/** A text of about one line. */
export function shortText(charsMax = 1_000) {
  return z.string().max(charsMax);
}

/** A text as long as the input may be, which is at most 1 MiB in all. */
export const longText = z.string();

/** Further instructions of the caller for the agent's task. */
export const customInstructions = z.string().max(20_000);

/** Any JSON object. zod's own records take half a second for as many members as an input may have. */
export const anyObject = z.custom<JsonObject>(isJsonObject, {
  error: ({ input }) => `must be an object, not ${describeKind(input)}`,
});

/** Background information, in whatever form the caller has it. */
export const background = z.custom<unknown>(
  (value) => typeof value === "string" || (typeof value === "object" && value !== null),
  { error: ({ input }) => `must be a string, an object or an array, not ${describeKind(input)}` },
);

/** Independent items: sentences, or objects that mean the same. */
export const statements = z
  .array(
    z.custom<string | JsonObject>((value) => typeof value === "string" || isJsonObject(value), {
      error: "must be a string or an object",
    }),
  )
  .max(200);

/** Any JSON value, null included; the variable is required. */
export const anyValue = z.unknown().refine((value) => value !== undefined, "is required");
