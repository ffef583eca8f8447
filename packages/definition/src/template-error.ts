/**
 * - `TEMPLATE_SYNTAX`: the text between the braces is not a template; validation reports it first.
 * - `TEMPLATE_TOO_LARGE`: the result passes 1 MiB, or nests deeper than JSON can be written.
 * - `PATTERN_TOO_EXPENSIVE`: a condition's pattern, or its text, is too large to be tried at once.
 * - `MISSING_SECRET`: a secret that the template names does not exist; a retry would not help.
 */
export type TemplateErrorCode =
  "TEMPLATE_SYNTAX" | "TEMPLATE_TOO_LARGE" | "PATTERN_TOO_EXPENSIVE" | "MISSING_SECRET";

/** The only error of compiling or evaluating a template or condition. The message contains no value. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  readonly code: TemplateErrorCode;
  /** The missing secret's key; only with MISSING_SECRET. */
  readonly secretKey: string | undefined;

  constructor(code: TemplateErrorCode, message: string, secretKey?: string) {
    super(message);
    this.code = code;
    this.secretKey = secretKey;
  }
}
