import { describeKind } from "@workflow/catalog";
import { isJsonObject } from "@workflow/json";
import type { JsonObject } from "@workflow/json";
import { z } from "zod";

/** Variables that more than one core agent has. Lengths are in UTF-16 units. */

/** One line or so. */
export function shortText(charsMax = 1_000) {
  return z.string().max(charsMax);
}

/** As long as the input may be, which is at most 1 MiB in all. */
export const longText = z.string();

/** What the caller asks for beside the agent's own task. */
export const customInstructions = z.string().max(20_000);

/** Any JSON object. zod's own records take half a second for as many members as an input may have. */
export const anyObject = z.custom<JsonObject>(isJsonObject, {
  error: ({ input }) => `must be an object, not ${describeKind(input)}`,
});

/** What has to be known besides, in whatever form the caller has it. */
export const background = z.custom<unknown>(
  (value) => typeof value === "string" || (typeof value === "object" && value !== null),
  { error: ({ input }) => `must be a string, an object or an array, not ${describeKind(input)}` },
);

/** Items that speak for themselves: sentences, or objects that say the same. */
export const statements = z
  .array(
    z.custom<string | JsonObject>((value) => typeof value === "string" || isJsonObject(value), {
      error: "must be a string or an object",
    }),
  )
  .max(200);

/** Any JSON value, null included; it has to be there. */
export const anyValue = z.unknown().refine((value) => value !== undefined, "is required");
