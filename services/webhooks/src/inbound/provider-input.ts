import { isJsonProblem, scanJsonObject } from "@workflow/json";
import type { NormalisedEvent } from "./provider-handler.ts";
import { memberOf, SentJsonError } from "./sent-json.ts";
import type { SentObject } from "./sent-json.ts";

const INPUT_BYTES_MAX = 1024 * 1024;
/** The recorded length of a provider's words. */
const WORD_CHARS_MAX = 255;

/**
 * The input of the runs that an event starts, as JSON text (D40a).
 *
 * @throws SentJsonError when it nests too deep for a run: it is one level deeper than what was sent
 */
export function toInputJson({ eventType, externalEventId, dataJson }: NormalisedEvent): string {
  const type = JSON.stringify(eventType);
  const id = JSON.stringify(externalEventId);
  const text = `{"eventType":${type},"externalEventId":${id},"data":${dataJson}}`;
  if (Buffer.byteLength(text) > INPUT_BYTES_MAX) throw new SentJsonError("The event is too long.");
  if (isJsonProblem(scanJsonObject(text))) throw new SentJsonError("The event is nested too deep.");
  return text;
}

/** A word of the provider, such as a type or an id: a text or a number of at most 255 characters; else null. */
export function toWord(value: unknown): string | null {
  if (typeof value === "number") return Number.isSafeInteger(value) ? String(value) : null;
  if (typeof value !== "string" || value === "" || value.length > WORD_CHARS_MAX) return null;
  return value;
}

/** A member that is a word of the provider; null when it is missing or none. */
export function wordOf(object: SentObject, name: string): string | null {
  return toWord(memberOf(object, name));
}
