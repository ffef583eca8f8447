import { cutJsonArray, isJsonProblem, scanJsonObject } from "@workflow/json";

/** A JSON object of a sender: its text, and parsed. */
export interface SentObject {
  text: string;
  /** The text of each member. */
  members: ReadonlyMap<string, string>;
  /** The result of JSON.parse; numbers may have lost digits. */
  value: unknown;
}

/** The text is no JSON of the expected form, or cannot be stored (D2). */
export class SentJsonError extends Error {
  override readonly name = "SentJsonError";
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a body that is a JSON object.
 *
 * @throws SentJsonError
 */
export function readSentObject(body: Buffer | string): SentObject {
  const text = typeof body === "string" ? body : decode(body);
  const members = scanJsonObject(text);
  if (isJsonProblem(members)) throw new SentJsonError(`The JSON is not usable: ${members.kind}.`);
  return { text, members, value: JSON.parse(text) };
}

/** A member; undefined when it is missing. */
export function memberOf({ members }: SentObject, name: string): unknown {
  const text = members.get(name);
  return text === undefined ? undefined : JSON.parse(text);
}

/**
 * Reads a JSON object, or the objects of an array.
 *
 * @param countMax most objects in an array
 * @throws SentJsonError, also above `countMax`
 */
export function readSentObjects(body: Buffer | string, countMax: number): SentObject[] {
  const text = (typeof body === "string" ? body : decode(body)).trim();
  if (!text.startsWith("[")) return [readSentObject(text)];
  const members = scanJsonObject(`{"all":${text}}`);
  // A text such as `[1],"all":[2]` is no JSON by itself.
  if (isJsonProblem(members) || members.get("all") !== text) {
    throw new SentJsonError("The JSON is not usable.");
  }
  const elements = cutJsonArray(text);
  if (elements.length > countMax) throw new SentJsonError("There are too many events.");
  return elements.map(readSentObject);
}

function decode(body: Buffer): string {
  try {
    return decoder.decode(body);
  } catch (error) {
    throw new SentJsonError("The text is not UTF-8.", { cause: error });
  }
}
