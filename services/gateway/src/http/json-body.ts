import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "@workflow/errors";
import { isJsonProblem, scanJsonObject } from "@workflow/json";
import type { JsonMembers, JsonProblem } from "@workflow/json";
import { checkMediaType } from "./media-type.ts";
import { findUnstorableText } from "./text-safety.ts";

/** The JSON object of a request body. */
export interface JsonBody {
  /** The object as JSON.parse reads it. */
  value: unknown;
  /** The text of each member as it was sent. */
  members: JsonMembers;
}

/** What an empty body means where every field is optional. */
export const EMPTY_BODY: JsonBody = { value: {}, members: new Map() };

/** In longer bodies a bad text is located by its position, without parsing. */
const EXPLAINED_CHARS_MAX = 4 * 1024 * 1024;

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Parses a request body (D2, D4).
 *
 * @throws AppError UNSUPPORTED_MEDIA_TYPE when its content type is not JSON in UTF-8; BAD_REQUEST
 * when it is no JSON object, is nested too deeply or contains text that cannot be stored
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
 * Decodes UTF-8.
 *
 * @throws AppError BAD_REQUEST for other bytes
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

/** The refusal of a text that is no valid JSON object. */
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

/**
 * Parsed only for the message: where keys repeat, the bad text may not be part of the parsed value.
 */
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
