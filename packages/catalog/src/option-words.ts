import type { ActionInput } from "./action-input.ts";
import { oneOf } from "./issue-words.ts";
import { nearestTexts } from "./nearest-texts.ts";

/** The most options that a message lists. With more options the message names the nearest. */
const LISTED_OPTIONS_MAX = 12;

/** The valid ids, for a choice; labels are for people only. For other inputs the message itself. */
export function describeWrongChoice(
  { key, options }: ActionInput,
  value: unknown,
  message: string,
): string {
  if (options === undefined || typeof value !== "string") return message;
  const wanted = value.toLowerCase();
  const labelled = options.find(({ label }) => label.toLowerCase() === wanted);
  if (labelled !== undefined && labelled.label !== labelled.id) {
    return `must be the option's id ${JSON.stringify(labelled.id)}, not its label`;
  }
  const ids = options.map(({ id }) => id);
  if (ids.length <= LISTED_OPTIONS_MAX) return message;
  const near = nearestTexts(value, ids).map((id) => JSON.stringify(id));
  const hint = near.length === 0 ? "" : `, ${oneOf(near)} for example`;
  return `must be one of the ${ids.length} options of ${key}${hint}; the catalog (GET /blocks) lists them`;
}
