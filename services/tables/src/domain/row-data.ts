import { invalidRequest } from "@workflow/errors";
import { parseJsonText } from "@workflow/json";
import { reportLostNumbers } from "./json-numbers.ts";
import { Problems } from "./problems.ts";

const DATA_BYTES_MAX = 1024 * 1024;
const TOO_LARGE = `must have at most ${DATA_BYTES_MAX} bytes`;

/**
 * Checks the data of a row. The result is the stored form: JSON without white space, in which the last of several
 * members with one key counts.
 * @param path the path of the data in the caller's request
 * @throws AppError BAD_REQUEST unless the text is a JSON object of at most 1 MiB, Postgres can store its texts, and
 * doubles can hold its numbers
 */
export function parseRowData(text: string, path: readonly string[] = ["data"]): string {
  const data = readData(text);
  if (!data.ok) throw invalidRequest([{ path: [...path], message: data.message }]);
  const problems = new Problems();
  reportLostNumbers(text, data.value, problems.at(...path));
  problems.throwIfAny();
  const stored = JSON.stringify(data.value);
  // Numbers may become longer, such as 1e15 with sixteen digits. The stored text must be small enough to be sent
  // back.
  if (Buffer.byteLength(stored) > DATA_BYTES_MAX)
    throw invalidRequest([{ path: [...path], message: TOO_LARGE }]);
  return stored;
}

function readData(text: string): ReturnType<typeof parseJsonText> {
  if (Buffer.byteLength(text) > DATA_BYTES_MAX) {
    return { ok: false, message: TOO_LARGE };
  }
  return parseJsonText(text, "object");
}
