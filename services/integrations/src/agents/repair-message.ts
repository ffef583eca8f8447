import type { Violation } from "@workflow/errors";
import { quote } from "./prompt/delimiters.ts";

/** Enough to see what is wrong; a model that missed more than that missed the form. */
const VIOLATIONS_MAX = 20;
const NAMES_MAX = 20;
const NAME_CHARS_MAX = 100;
const MESSAGE_CHARS_MAX = 300;

/** Takes the place of what is too long; a part of it might be the part of a secret. */
const TOO_LONG = "…";

/** The first of some violations, each as short as people and models read. */
export function boundViolations(violations: readonly Violation[]): Violation[] {
  return violations.slice(0, VIOLATIONS_MAX).map(({ path, message }) => ({
    // Names in a path are the model's own: they may be long, and there may be many.
    path: path.slice(0, NAMES_MAX).map((name) => (name.length > NAME_CHARS_MAX ? TOO_LONG : name)),
    message: message.length > MESSAGE_CHARS_MAX ? "does not fit the schema" : message,
  }));
}

/** Tells a model what is wrong with its answer and asks for another. */
export function composeRepair(violations: readonly Violation[], wantsJson: boolean): string {
  const named = boundViolations(violations).map(
    ({ path, message }) => `- ${path.length === 0 ? "the answer" : showPath(path)} ${message}`,
  );
  const more = violations.length - named.length;
  return [
    "Your answer can't be used:",
    ...named,
    ...(more > 0 ? [`- and ${more} more`] : []),
    wantsJson
      ? "Answer again with the whole corrected JSON and nothing else."
      : "Answer again with the whole text.",
  ].join("\n");
}

/** The model's own names, which an input may have led it to: they must not end the line or open a delimiter. */
function showPath(path: readonly string[]): string {
  return path.map((name) => (/^\w+$/.test(name) ? name : quote(name))).join(".");
}
