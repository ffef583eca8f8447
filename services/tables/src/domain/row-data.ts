import { parseJsonText } from "@workflow/json";
import { reportLostNumbers } from "./json-numbers.ts";
import { badRequest, Problems } from "./problems.ts";

const DATA_BYTES_MAX = 1024 * 1024;
const TOO_LARGE = `must have at most ${DATA_BYTES_MAX} bytes`;

/**
 * Checks the data of a row and returns it in the form in which it is stored: JSON without white space,
 * of members with the same key the last. `path` is where callers know the data under.
 *
 * @throws AppError BAD_REQUEST unless it is a JSON object of at most 1 MiB whose texts Postgres, and
 * whose numbers doubles, can hold
 */
export function parseRowData(text: string, path: readonly string[] = ["data"]): string {
  const data = readData(text);
  if (!data.ok) throw badRequest([{ path: [...path], message: data.message }]);
  const problems = new Problems();
  reportLostNumbers(text, data.value, problems.at(...path));
  problems.throwIfAny();
  const stored = JSON.stringify(data.value);
  // Numbers may grow, 1e15 to sixteen digits; what is stored has to be fit to be sent back.
  if (Buffer.byteLength(stored) > DATA_BYTES_MAX)
    throw badRequest([{ path: [...path], message: TOO_LARGE }]);
  return stored;
}

function readData(text: string): ReturnType<typeof parseJsonText> {
  if (Buffer.byteLength(text) > DATA_BYTES_MAX) {
    return { ok: false, message: TOO_LARGE };
  }
  return parseJsonText(text, "object");
}
