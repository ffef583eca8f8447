import { renderText } from "@workflow/definition";
import { ActionInputs, invalidInput } from "./inputs.ts";

/**
 * Fills the placeholders of a text from values: `{template, values?}` → `{text}`. Inserted values are not
 * searched for placeholders; a placeholder without a value becomes empty. Without `values` the text is
 * returned as it is.
 *
 * @throws TemplateError when the text's placeholders are malformed or the result is over 1 MiB
 */
export function textTemplate(resolved: unknown): { text: string } {
  const inputs = new ActionInputs(resolved);
  const values = inputs.value("values");
  if (values !== undefined && (typeof values !== "object" || Array.isArray(values))) {
    throw invalidInput("values", "must be an object");
  }
  return { text: renderText(inputs.text("template"), values) };
}
