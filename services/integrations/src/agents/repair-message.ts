import type { Violation } from "@workflow/errors";
import { quote } from "./prompt/delimiters.ts";

/** Enough problems for a repair; a model with more of them has missed the form altogether. */
const VIOLATIONS_MAX = 20;
const NAMES_MAX = 20;
const NAME_CHARS_MAX = 100;
const MESSAGE_CHARS_MAX = 300;

/** Replaces a text that is too long; a part of the text could be a part of a secret. */
const TOO_LONG = "…";

/** The first violations, each shortened for people and models. */
export function boundViolations(violations: readonly Violation[]): Violation[] {
  return violations.slice(0, VIOLATIONS_MAX).map(({ path, message }) => ({
    // The model chose the names in a path, so they may be long and many.
    path: path.slice(0, NAMES_MAX).map((name) => (name.length > NAME_CHARS_MAX ? TOO_LONG : name)),
    message: message.length > MESSAGE_CHARS_MAX ? "does not fit the schema" : message,
  }));
}

/** The message that lists the problems of an answer and asks for another answer. */
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

/** An input may have led the model to these names, so they must not end the line or open a delimiter. */
function showPath(path: readonly string[]): string {
  return path.map((name) => (/^\w+$/.test(name) ? name : quote(name))).join(".");
}
