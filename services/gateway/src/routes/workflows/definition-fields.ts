import { jsonObject } from "../fields.ts";

/**
 * The fields of a workflow that may be absent, in bodies of create and update; null means none. What
 * is inside them is the workflows service's to judge.
 */
export const clearableFields = {
  inputSchema: jsonObject.nullish(),
  outputSchema: jsonObject.nullish(),
  settings: jsonObject.nullish(),
};

/** The JSON text of a member that may be null; null and absent are both undefined. */
export function textUnlessNull(text: string | undefined): string | undefined {
  return text === "null" ? undefined : text;
}
