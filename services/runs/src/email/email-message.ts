import { z } from "zod";
import { StepError } from "../interpreter/step-error.ts";

/** One message, as the integrations service takes it. */
export interface EmailMessage {
  /** Addresses, each `a@b.c` or `Name <a@b.c>`. */
  to: string[];
  cc: string[];
  bcc: string[];
  replyTo: string[];
  /** Undefined: the installation's sender. */
  from: string | undefined;
  subject: string;
  text: string | undefined;
  html: string | undefined;
}

// A template whose path does not exist gives null, which is as good as nothing given.
const optionalText = z.string("must be a text").nullish();
/** One address to a text: what a template brings in must not add recipients by a comma. */
const addresses = z
  .union([z.string(), z.array(z.string())], "must be an e-mail address or an array of them")
  .nullish()
  .transform((value) => (typeof value === "string" ? [value] : (value ?? [])));

const resolvedMessage = z.object({
  to: addresses,
  cc: addresses,
  bcc: addresses,
  replyTo: addresses,
  from: optionalText,
  subject: z.string("must be a text"),
  text: optionalText,
  html: optionalText,
});

/**
 * Reads an e-mail step's resolved config. Addresses and header texts are checked where the message
 * is sent.
 *
 * @throws StepError INVALID_INPUT naming the fields
 */
export function readEmailMessage(resolved: unknown): EmailMessage {
  const parsed = resolvedMessage.safeParse(resolved);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
    throw new StepError("INVALID_INPUT", `The message is not valid: ${problems.join("; ")}.`, {
      retryable: false,
    });
  }
  const { from, text, html, ...rest } = parsed.data;
  return {
    ...rest,
    from: from ?? undefined,
    text: text ?? undefined,
    html: html ?? undefined,
  };
}
