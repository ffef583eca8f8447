import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "@workflow/errors";
import type { JsonMembers, JsonProblem } from "./scan-json.ts";
import { isJsonProblem, scanJsonObject } from "./scan-json.ts";
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

const decoder = new TextDecoder("utf-8", { fatal: true });
const JSON_TYPE = /^application\/(?:json|[\w!#$&^.+-]+\+json)$/;

/**
 * Reads the bytes of a body (D2, D4). Throws UNSUPPORTED_MEDIA_TYPE when they are not said to be
 * JSON in UTF-8, BAD_REQUEST when they are not a JSON object, are nested too deeply or hold text
 * that cannot be stored.
 */
export function parseJsonBody(bytes: Buffer, headers: IncomingHttpHeaders): JsonBody {
  checkMediaType(headers);
  const text = decodeUtf8(bytes);
  const members = scanJsonObject(text);
  if (isJsonProblem(members)) throw rejection(text, members);
  const value: unknown = JSON.parse(text);
  return { value, members };
}

function checkMediaType(headers: IncomingHttpHeaders): void {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity" && encoding !== "") {
    throw unsupported("The request body must not be compressed.");
  }
  const [type = "", ...parameters] = (headers["content-type"] ?? "").split(";");
  if (!JSON_TYPE.test(type.trim().toLowerCase())) {
    throw unsupported("The request body must be JSON, with Content-Type: application/json.");
  }
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=");
    if (name.trim().toLowerCase() !== "charset") continue;
    const charset = value.trim().replaceAll('"', "").toLowerCase();
    if (charset !== "utf-8" && charset !== "utf8") {
      throw unsupported("The request body must be encoded in UTF-8.");
    }
  }
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw new AppError("BAD_REQUEST", "The request body is not valid UTF-8.", { cause: error });
  }
}

function rejection(text: string, problem: JsonProblem): AppError {
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
  return badRequest(
    isJson(text)
      ? "The request body must be a JSON object."
      : `The request body is not valid JSON: unexpected ${describe(text, position)}.`,
  );
}

/** Only for the message: in a text with repeated keys the culprit may not be part of the value. */
function findUnstorableTextIn(text: string): string[] | null {
  try {
    return findUnstorableText(JSON.parse(text));
  } catch {
    return null;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
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

function unsupported(message: string): AppError {
  return new AppError("UNSUPPORTED_MEDIA_TYPE", message);
}
