import { hash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { AppError } from "@workflow/errors";
import type { EtagCondition } from "@workflow/proto/workflows/v1/workflows";

/** An entity tag (RFC 9110, section 8.8.3); `W/` marks a weak one. */
const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;
/** What the tag of a compressed answer ends with; no other tag has a point in it. */
const CODED_END = /\.(?:br|gzip)"$/;
/** Of longer answers the tag would cost more than it saves. */
const TAGGED_CHARS_MAX = 256 * 1024;
const TAG_CHARS = 22;

/** The strong tag of an answer whose text is all that is known of it; undefined when that is too long. */
export function tagOfText(text: string): string | undefined {
  if (text.length > TAGGED_CHARS_MAX) return undefined;
  return `"${hash("sha256", text, "base64url").slice(0, TAG_CHARS)}"`;
}

/**
 * The tag of an answer's compressed form: strong ones tell every byte, so that of each form is another
 * (RFC 9110, section 8.8.3.3). Conditions take either for the same thing.
 */
export function codedTag(etag: string, coding: string): string {
  return etag.startsWith("W/") ? etag : `${etag.slice(0, -1)}.${coding}"`;
}

/**
 * What a change expects of the resource by its `If-Match`; undefined when it expects nothing, and
 * for `*`, which says only that there is one. Weak tags are handed on: they match nothing, as they
 * should.
 *
 * @throws AppError BAD_REQUEST for what is no list of tags
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
 * The tag that a reader has and that is still right (RFC 9110, section 13.1.2); null when it is to get the
 * answer.
 *
 * @param sentTag the tag that the answer would go out with, which is what `*` gets
 */
export function findCurrentTag(
  { method, headers }: IncomingMessage,
  etag: string,
  sentTag = etag,
): string | null {
  const header = headers["if-none-match"];
  if (header === undefined || (method !== "GET" && method !== "HEAD")) return null;
  if (header.trim() === "*") return sentTag;
  // Strong and weak tags are alike here; a header that can't be read is passed over.
  const tags = parseTags(header)?.map((tag) => tag.replace("W/", ""));
  return tags?.find((tag) => plainTag(tag) === etag) ?? null;
}

/** Whether a reader has what it asks for already. */
export function isNotModified(request: IncomingMessage, etag: string): boolean {
  return findCurrentTag(request, etag) !== null;
}

/** The tag of the resource, whatever form of the answer was tagged. */
function plainTag(tag: string): string {
  return tag.replace(CODED_END, '"');
}

/** Null for a text that is no list. */
function parseTags(header: string): string[] | null {
  const tags = header.match(ENTITY_TAG) ?? [];
  const isList = tags.length > 0 && /^[\s,]*$/.test(header.replaceAll(ENTITY_TAG, ""));
  return isList ? tags : null;
}
