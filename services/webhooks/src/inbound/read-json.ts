import { isJsonProblem, isStorableText, scanJsonObject } from "@workflow/definition";
import type { JsonMembers } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { InboundRequest } from "./inbound-request.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/** A body that is a JSON object. */
export interface JsonObject {
  /** As it was sent. */
  text: string;
  /** The members of the outermost object as the texts that were sent. */
  members: JsonMembers;
}

/**
 * The text of a body.
 *
 * @throws AppError BAD_REQUEST when it is not UTF-8, or text that cannot be stored
 */
export function readText({ rawBody }: Pick<InboundRequest, "rawBody">): string {
  let text: string;
  try {
    text = decoder.decode(rawBody);
  } catch (error) {
    throw new AppError("BAD_REQUEST", "The request body is not valid UTF-8.", { cause: error });
  }
  if (isStorableText(text)) return text;
  throw new AppError("BAD_REQUEST", "The request body must not contain NUL characters.");
}

/** The JSON object in a text; null when it is something else, or one that cannot be stored (D2). */
export function findJsonObject(text: string): JsonObject | null {
  const members = scanJsonObject(text);
  return isJsonProblem(members) ? null : { text, members };
}

/**
 * A body that must be a JSON object.
 *
 * @throws AppError BAD_REQUEST `Invalid JSON`
 */
export function readJsonObject(request: Pick<InboundRequest, "rawBody">): JsonObject {
  const object = findJsonObject(readText(request));
  if (object === null) throw new AppError("BAD_REQUEST", "Invalid JSON");
  return object;
}

/** @throws AppError UNSUPPORTED_MEDIA_TYPE when a body is not said to be JSON, or is compressed */
export function requireJsonType({ headers }: Pick<InboundRequest, "headers">): void {
  const types = headers.get("content-type") ?? [];
  if (types.length !== 1 || !JSON_TYPE.test(types[0]?.trim() ?? "")) {
    throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The Content-Type must be application/json.");
  }
  requirePlainBody({ headers });
}

/** @throws AppError UNSUPPORTED_MEDIA_TYPE when a body is compressed */
export function requirePlainBody({ headers }: Pick<InboundRequest, "headers">): void {
  const encodings = headers.get("content-encoding") ?? [];
  if (encodings.every((encoding) => encoding.trim().toLowerCase() === "identity")) return;
  throw new AppError("UNSUPPORTED_MEDIA_TYPE", "The request body must not be compressed.");
}

/** A member that is a text; null when it is missing, something else, or longer than so many characters. */
export function textMember(members: JsonMembers, name: string, charsMax: number): string | null {
  const value: unknown = JSON.parse(members.get(name) ?? "null");
  return typeof value === "string" && value !== "" && value.length <= charsMax ? value : null;
}

/** The input of runs that an event of a provider starts (D40a); `dataJson` stays as it is. */
export function toPayload(event: {
  eventType: string | null;
  externalEventId: string | null;
  dataJson: string;
}): string {
  const { eventType, externalEventId, dataJson } = event;
  const known = JSON.stringify({ eventType, externalEventId });
  return `${known.slice(0, -1)},"data":${dataJson}}`;
}
