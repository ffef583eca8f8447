import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { AppError } from "@workflow/errors";
import type { EtagCondition } from "@workflow/proto/workflows/v1/workflows";

/** An entity tag (RFC 9110, section 8.8.3); `W/` marks a weak one. */
const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/**
 * What a change expects of the resource by its `If-Match`; undefined when it expects nothing, and for
 * `*`, which says only that there is one. Weak tags are handed on: they match nothing, as they
 * should. Throws BAD_REQUEST for what is no list of tags.
 */
export function ifMatchOf(headers: IncomingHttpHeaders): EtagCondition | undefined {
  const header = headers["if-match"];
  if (header === undefined || header.trim() === "*") return undefined;
  const etags = parseTags(header);
  if (etags !== null) return { etags };
  const message = 'must be * or a list of entity tags in double quotes, such as "3-1-active"';
  throw new AppError("BAD_REQUEST", `The request is not valid: If-Match ${message}.`, {
    violations: [{ path: ["If-Match"], message }],
  });
}

/** Whether a read asks only for something else than this (RFC 9110, section 13.1.2). */
export function isNotModified({ method, headers }: IncomingMessage, etag: string): boolean {
  const header = headers["if-none-match"];
  if (header === undefined || (method !== "GET" && method !== "HEAD")) return false;
  if (header.trim() === "*") return true;
  // Strong and weak tags are alike here; a header that can't be read is passed over.
  return parseTags(header)?.some((tag) => tag.replace("W/", "") === etag) ?? false;
}

/** Null for a text that is no list. */
function parseTags(header: string): string[] | null {
  const tags = header.match(ENTITY_TAG) ?? [];
  const isList = tags.length > 0 && /^[\s,]*$/.test(header.replaceAll(ENTITY_TAG, ""));
  return isList ? tags : null;
}
