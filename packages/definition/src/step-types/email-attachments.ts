import { z } from "zod";
import { templatable, templatableText } from "../zod-messages.ts";

/** The limits of attachments. Sizes are in bytes, of decoded files. */
export const ATTACHMENT_LIMITS = {
  countMax: 20,
  filenameCharsMax: 255,
  urlCharsMax: 8_192,
  /** The size of all attachments of a message together. */
  bytesMax: 10 * 1024 * 1024,
  /** The size of the resolved attachments as JSON: base64 with line breaks, names and other members. */
  resolvedBytesMax: 15 * 1024 * 1024,
} as const;

/** The letters of both alphabets (RFC 4648), with or without padding and line breaks. */
const BASE64 = /^[A-Za-z0-9+/_\-\s]*(?:=\s*){0,2}$/;
/** A type without parameters, or with plain words as parameters (RFC 2045). */
const CONTENT_TYPE =
  /^[A-Za-z0-9][\w!#$&^.+-]{0,126}\/[A-Za-z0-9][\w!#$&^.+-]{0,126}(?: ?; ?[\w-]{1,64}=[\w.+-]{1,64}){0,4}$/;
/** Types with parts or messages would make a message within the message. */
const NESTING_TYPE = /^(?:multipart|message)\//i;

/**
 * Decodes base64 in the plain or the URL alphabet; line breaks and missing padding are allowed. Null for
 * other texts.
 */
export function decodeBase64(text: string): Buffer | null {
  return BASE64.test(text) ? Buffer.from(text, "base64") : null;
}

/** The problem of a file's name; null for a name that fits into a header and is no path. */
export function filenameProblem(name: string): string | null {
  if (name.trim() === "" || name.length > ATTACHMENT_LIMITS.filenameCharsMax) {
    return `must have 1 to ${ATTACHMENT_LIMITS.filenameCharsMax} characters`;
  }
  if (/[\p{Cc}\u2028\u2029]/u.test(name) || !name.isWellFormed()) {
    return "must not hold line breaks or other control characters";
  }
  return /[/\\]/.test(name) ? "must be the name of a file, without folders" : null;
}

/** The problem of a content type; null for the type of a file. */
export function contentTypeProblem(type: string): string | null {
  if (!CONTENT_TYPE.test(type)) return "must be a type such as application/pdf";
  return NESTING_TYPE.test(type) ? "must be the type of a file, not multipart or message" : null;
}

const filename = z.string().superRefine(addProblem(filenameProblem));
const contentType = z.string().superRefine(addProblem(contentTypeProblem));
const content = z.string().regex(BASE64, { error: "must be base64" });
const url = z
  .string()
  .max(ATTACHMENT_LIMITS.urlCharsMax)
  .regex(/^https?:\/\//i, { error: "must be a URL that begins with https://" });

/** Names are checked again where the message is sent, since a template may give any text. */
function addProblem(problemOf: (text: string) => string | null) {
  return (text: string, context: z.core.$RefinementCtx): void => {
    const message = problemOf(text);
    if (message !== null) context.addIssue({ code: "custom", message });
  };
}

const attachment = z
  .looseObject({
    filename: templatableText(filename).meta({ description: "What the recipient sees" }),
    content: templatableText(content).optional().meta({ description: "The file as base64" }),
    url: templatableText(url)
      .optional()
      .meta({ description: "Where the file is fetched from when the message is sent" }),
    contentType: templatableText(contentType)
      .optional()
      .meta({ description: "By default what the URL's server says, or what fits the name" }),
  })
  .refine((file) => (file.content === undefined) !== (file.url === undefined), {
    error: "has either content or url",
  })
  .meta({
    oneOf: [
      { properties: { content: {} }, required: ["content"] },
      { properties: { url: {} }, required: ["url"] },
    ],
  });

/** The attachments of an e-mail step. A template may give one or all of them. */
export const attachmentsSchema = templatable(
  z.array(templatable(attachment)).max(ATTACHMENT_LIMITS.countMax),
);
