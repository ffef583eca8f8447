import type { IncomingHttpHeaders } from "node:http";
import { isJsonProblem, scanJsonObject } from "@workflow/definition";
import type { JsonMembers, JsonProblem } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import { checkMediaType } from "./media-type.ts";
import { findUnstorableText } from "./text-safety.ts";

/** A JSON object that a caller sent. */
export interface JsonBody {
  /** As JSON.parse reads it. */
  value: unknown;
  /** Its members as the texts that were sent. */
  members: JsonMembers;
}

/** What an empty body stands for where everything in it is optional. */
export const EMPTY_BODY: JsonBody = { value: {}, members: new Map() };

/** In longer bodies the place of a bad text is told by its position, without parsing them. */
const EXPLAINED_CHARS_MAX = 4 * 1024 * 1024;

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads the bytes of a body (D2, D4).
 *
 * @throws AppError UNSUPPORTED_MEDIA_TYPE when they are not said to be JSON in UTF-8, BAD_REQUEST
 * when they are not a JSON object, are nested too deeply or hold text that cannot be stored
 */
export function parseJsonBody(bytes: Buffer, headers: IncomingHttpHeaders): JsonBody {
  checkMediaType(headers, "json");
  const text = decodeUtf8(bytes);
  const members = scanJsonObject(text);
  if (isJsonProblem(members)) throw jsonRejection(text, members);
  const value: unknown = JSON.parse(text);
  return { value, members };
}

/**
 * The text of bytes in UTF-8.
 *
 * @throws AppError BAD_REQUEST for others
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw new AppError("BAD_REQUEST", "The request body is not valid UTF-8.", {
      violations: [{ path: [], message: "must be valid UTF-8" }],
      cause: error,
    });
  }
}

/** What the sender of a text that is no good JSON object is told. */
export function jsonRejection(text: string, problem: JsonProblem): AppError {
  const { kind, position } = problem;
  if (kind === "depth") {
    return badRequest("The request body must not nest more than 64 objects and arrays.");
  }
  if (kind === "text") {
    const message = "must not contain NUL characters or lone surrogates";
    const path = findUnstorableTextIn(text);
    const place = path === null ? `position ${position}` : path.join(".");
    return new AppError("BAD_REQUEST", `The request body ${message} (${place}).`, {
      violations: [{ path: path ?? [], message }],
    });
  }
  if (kind === "type") return badRequest("The request body must be a JSON object.");
  return badRequest(`The request body is not valid JSON: unexpected ${describe(text, position)}.`);
}

/** Only for the message: in a text with repeated keys the culprit may not be part of the value. */
function findUnstorableTextIn(text: string): string[] | null {
  if (text.length > EXPLAINED_CHARS_MAX) return null;
  try {
    return findUnstorableText(JSON.parse(text));
  } catch {
    return null;
  }
}

function describe(text: string, position: number): string {
  if (position >= text.length) return `end at position ${text.length}`;
  const character = String.fromCodePoint(text.codePointAt(position) ?? 0);
  return `character ${JSON.stringify(character)} at position ${position}`;
}

function badRequest(message: string): AppError {
  return new AppError("BAD_REQUEST", message, { violations: [{ path: [], message }] });
}
