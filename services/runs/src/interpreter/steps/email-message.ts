import { ADDRESSES_MAX, hasControls, splitAddresses } from "@workflow/definition";
import { z } from "zod";
import { StepError } from "../../domain/step-error.ts";

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

/** A file attached to a message. */
export interface EmailAttachment {
  filename: string;
  source: { $case: "content"; value: Buffer } | { $case: "url"; value: string };
  /** Undefined: the type that the URL's server gives, or that fits the name. */
  contentType: string | undefined;
}

const WANTED = "must be an e-mail address, several with commas between them, or an array of them";
const NO_CONTROLS = "must not hold line breaks or other control characters";
const TOO_MANY = `must have at most ${ADDRESSES_MAX} addresses`;

// A template whose path does not exist gives null, which counts as not given.
const optionalText = z.string("must be a text").nullish();
/**
 * A text is a list of addresses (D61). In an array each text is one address, which the mail service
 * checks. Empty entries count as missing; so does null, which a template gives that found nothing.
 */
const addresses = z
  .unknown()
  .optional()
  .transform((value, context): string[] => {
    const refuse = (message: string, path: number[] = []): never[] => {
      context.addIssue({ code: "custom", message, path });
      return [];
    };
    if (typeof value === "string") {
      if (hasControls(value)) return refuse(NO_CONTROLS);
      const entries = splitAddresses(value);
      if (entries === null) {
        return refuse("has a quotation mark or an angle bracket that is not closed");
      }
      return entries.length > ADDRESSES_MAX ? refuse(TOO_MANY) : entries;
    }
    if (value === null || value === undefined) return [];
    if (!Array.isArray(value)) return refuse(WANTED);
    const entries: unknown[] = value.flat();
    if (entries.length > ADDRESSES_MAX) return refuse(TOO_MANY);
    return entries.flatMap((entry, index) => {
      if (entry === null) return [];
      if (typeof entry !== "string") return refuse("must be an e-mail address", [index]);
      if (hasControls(entry)) return refuse(NO_CONTROLS, [index]);
      return entry.trim() === "" ? [] : [entry];
    });
  });

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
 * Reads an e-mail step's resolved config. The integrations service checks addresses and header texts.
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
