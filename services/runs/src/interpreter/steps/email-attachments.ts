import {
  ATTACHMENT_LIMITS,
  contentTypeProblem,
  decodeBase64,
  evaluate,
  filenameProblem,
} from "@workflow/definition";
import type { CompiledValue, EvaluatedValue, TemplateScope } from "@workflow/definition";
import { z } from "zod";
import { StepError } from "../../domain/step-error.ts";
import type { EmailAttachment } from "./email-message.ts";

const MIB = 1024 * 1024;

/** A template whose path does not exist gives null, which counts as not given. */
const resolvedFile = z.object({
  filename: checked(filenameProblem),
  content: z.string("must be base64").nullish(),
  url: z.string("must be a URL").max(ATTACHMENT_LIMITS.urlCharsMax, "is too long").nullish(),
  contentType: checked(contentTypeProblem).nullish(),
});
const resolvedFiles = z
  .array(resolvedFile.nullable(), "must be an array of files")
  .max(ATTACHMENT_LIMITS.countMax, `must have at most ${ATTACHMENT_LIMITS.countMax} files`)
  .nullish();

/** The attachments of an e-mail step with their templates resolved. Their contents may be large. */
export function resolveAttachments(
  scope: TemplateScope,
  attachments: CompiledValue | undefined,
): EvaluatedValue {
  if (attachments === undefined) return { value: undefined, masked: undefined };
  return evaluate(attachments, scope, ATTACHMENT_LIMITS.resolvedBytesMax);
}

/** How many characters of base64 the attachments have. Values of a wrong shape count as nothing. */
export function contentCharsOf(attachments: unknown): number {
  const files: unknown[] = Array.isArray(attachments) ? attachments : [];
  return files.reduce<number>((sum, file) => {
    const content = memberOf(file, "content");
    return sum + (typeof content === "string" ? content.length : 0);
  }, 0);
}

/** The attachments as a stored input shows them: a file's content is replaced by its length. */
export function withoutContent(attachments: unknown): unknown {
  if (!Array.isArray(attachments)) return attachments;
  return attachments.map((file: unknown) => {
    const content = memberOf(file, "content");
    if (typeof content !== "string") return file;
    return { ...Object(file), content: `(${content.length} characters of base64)` };
  });
}

/**
 * Reads resolved attachments and decodes their contents.
 *
 * @throws StepError INVALID_INPUT naming the fields
 */
export function readAttachments(resolved: unknown): EmailAttachment[] {
  const parsed = resolvedFiles.safeParse(resolved);
  if (!parsed.success) {
    throw invalid(parsed.error.issues.map(({ path, message }) => `${placeOf(...path)} ${message}`));
  }
  const files = (parsed.data ?? []).flatMap((file, index) => {
    if (file === null) return [];
    const { filename, contentType } = file;
    const source = sourceOf(file, index);
    return [{ filename, source, contentType: contentType ?? undefined }];
  });
  const bytes = files.reduce(
    (sum, { source }) => sum + (source.$case === "content" ? source.value.length : 0),
    0,
  );
  if (bytes <= ATTACHMENT_LIMITS.bytesMax) return files;
  throw invalid([`attachments have more than ${ATTACHMENT_LIMITS.bytesMax / MIB} MiB together`]);
}

function sourceOf(
  { content, url }: z.infer<typeof resolvedFile>,
  index: number,
): EmailAttachment["source"] {
  const hasContent = content !== null && content !== undefined;
  const hasUrl = url !== null && url !== undefined;
  // A file whose template found nothing is an error: the message may be about that file.
  if (hasContent === hasUrl) throw invalid([`${placeOf(index)} has either content or url`]);
  if (hasUrl) return { $case: "url", value: url };
  const bytes = decodeBase64(content ?? "");
  if (bytes === null) throw invalid([`${placeOf(index, "content")} must be base64`]);
  return { $case: "content", value: bytes };
}

function checked(problemOf: (text: string) => string | null) {
  return z.string("must be a text").superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== null) context.addIssue({ code: "custom", message });
  });
}

function placeOf(...path: readonly PropertyKey[]): string {
  return ["attachments", ...path].map(String).join(".");
}

function invalid(problems: readonly string[]): StepError {
  const message = `The message is not valid: ${problems.join("; ")}.`;
  return new StepError("INVALID_INPUT", message, { retryable: false });
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
