import { PROVIDERS } from "@workflow/catalog";
import { z } from "zod";

const text = z.string().nullish();

/** The further fields of providers with API keys: `domain`, `environment` and the like. */
function describeFields(): Record<string, typeof text> {
  const wanted = new Map<string, string[]>();
  for (const { id, auth } of PROVIDERS) {
    for (const { key, required, options } of auth.kind === "apiKey" ? auth.fields : []) {
      const facts = [required ? "required" : "optional", ...(options ?? [])];
      wanted.set(key, [...(wanted.get(key) ?? []), `${id} (${facts.join(", ")})`]);
    }
  }
  return Object.fromEntries(
    [...wanted].map(([key, providers]) => [key, text.describe(`Of ${providers.join("; ")}.`)]),
  );
}

/** The body with keys. A connection that gets new keys keeps the fields that are not given. */
export const keyFields = z
  .object({
    ...describeFields(),
    apiKey: z
      .string()
      .describe("1 to 8,192 printable ASCII characters; of avalara the license key.")
      .meta({ minLength: 1, maxLength: 8_192, examples: ["re_4fJk2VvZ"] }),
    name: z
      .string()
      .meta({ maxLength: 255 })
      .nullish()
      .describe("At most 255 characters; by default the provider's name, or the present one."),
    connectionId: text.describe(
      "The connection whose credentials are replaced; without it a new one.",
    ),
  })
  .meta({ id: "ConnectionKeys", description: "API keys of an account at a provider." });
