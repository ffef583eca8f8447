import { hash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { AppError } from "@workflow/errors";
import type { EtagCondition } from "@workflow/proto/workflows/v1/workflows";

/** An entity tag (RFC 9110, section 8.8.3); `W/` marks a weak one. */
const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;
/** The end of a compressed answer's tag; no other tag contains a point. */
const CODED_END = /\.(?:br|gzip)"$/;
/** For longer answers the tag would cost more than it saves. */
const TAGGED_CHARS_MAX = 256 * 1024;
const TAG_CHARS = 22;

/** The strong tag of an answer, from a digest of its text; undefined when the text is too long. */
export function tagOfText(text: string): string | undefined {
  if (text.length > TAGGED_CHARS_MAX) return undefined;
  return `"${hash("sha256", text, "base64url").slice(0, TAG_CHARS)}"`;
}

/**
 * The tag of an answer's compressed form. A strong tag identifies every byte, so each form has its
 * own (RFC 9110, section 8.8.3.3). Conditions accept either form.
 */
export function codedTag(etag: string, coding: string): string {
  return etag.startsWith("W/") ? etag : `${etag.slice(0, -1)}.${coding}"`;
}

/**
 * The version that a change expects, from its `If-Match`. Undefined without the header, and for
 * `*`, which only says that the resource exists. Weak tags are handed on and match nothing.
 *
 * @throws AppError BAD_REQUEST when the header is no list of tags
 */
export function ifMatchOf(headers: IncomingHttpHeaders): EtagCondition | undefined {
  const header = headers["if-match"];
  if (header === undefined || header.trim() === "*") return undefined;
  const etags = parseTags(header)?.map(plainTag);
  if (etags !== undefined) return { etags };
  const message = 'must be * or a list of entity tags in double quotes, such as "3-1-active"';
  throw new AppError("BAD_REQUEST", `The request is not valid: If-Match ${message}.`, {
    violations: [{ path: ["If-Match"], message }],
  });
}

/**
 * The current tag, when the reader's copy is still fresh (RFC 9110, section 13.1.2); null when the
 * reader needs the answer.
 *
 * @param sentTag the tag that the answer would have; `*` matches it
 */
export function findCurrentTag(
  { method, headers }: IncomingMessage,
  etag: string,
  sentTag = etag,
): string | null {
  const header = headers["if-none-match"];
  if (header === undefined || (method !== "GET" && method !== "HEAD")) return null;
  if (header.trim() === "*") return sentTag;
  // Strong and weak tags compare alike here. A header that cannot be parsed is ignored.
  const tags = parseTags(header)?.map((tag) => tag.replace("W/", ""));
  return tags?.find((tag) => plainTag(tag) === etag) ?? null;
}

/** Whether a reader's copy is still fresh. */
export function isNotModified(request: IncomingMessage, etag: string): boolean {
  return findCurrentTag(request, etag) !== null;
}

/** The tag of the plain form, whichever form was tagged. */
function plainTag(tag: string): string {
  return tag.replace(CODED_END, '"');
}

/** Null for a text that is no list of tags. */
function parseTags(header: string): string[] | null {
  const tags = header.match(ENTITY_TAG) ?? [];
  const isList = tags.length > 0 && /^[\s,]*$/.test(header.replaceAll(ENTITY_TAG, ""));
  return isList ? tags : null;
}
