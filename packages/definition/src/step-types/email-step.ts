import { z } from "zod";
import { ADDRESSES_MAX, splitAddresses } from "../address-list.ts";
import { fieldsOf, pickOwn } from "../step.ts";
import { compileOptional, compileTemplates, objectOf } from "../template.ts";
import type { CompiledValue } from "../template.ts";
import { connectionId } from "./config-parts.ts";
import { attachmentsSchema } from "./email-attachments.ts";
import type { StepType } from "./step-type.ts";

/** The parts of a message, in the order in which a stored input shows them. */
const MESSAGE_KEYS = ["to", "cc", "bcc", "from", "replyTo", "subject", "text", "html"] as const;
/** The parts that may list several addresses. */
const LIST_KEYS: ReadonlySet<string> = new Set(["to", "cc", "bcc", "replyTo"]);

/** `a@b.c` or `Name <a@b.c>`. The check is rough: the mail server decides on addresses. */
const ADDRESS = /^(?:[^<>\r\n]*< *[^\s@<>,;]+@[^\s@<>,;]+ *>| *[^\s@<>,;"]+@[^\s@<>,;"]+) *$/;
const isAddress = (text: string): boolean => text.includes("{{") || ADDRESS.test(text);
const WANTED = "an e-mail address such as ada@example.com or Ada <ada@example.com>, or a template";
const address = z.string().refine(isAddress, { error: `must be ${WANTED}` });

/** Several addresses in one text; each entry is an address or a template. */
const addressList = z.string().superRefine((text, context) => {
  const entries = splitAddresses(text, { templates: true });
  const message = problemOf(entries);
  if (message !== null) context.addIssue({ code: "custom", message });
});
const addresses = z.union([addressList, z.array(address).min(1).max(ADDRESSES_MAX)], {
  error: (issue) =>
    typeof issue.input === "string" || Array.isArray(issue.input)
      ? undefined
      : "must be an e-mail address, several with commas between them, or an array of them",
});

function problemOf(entries: string[] | null): string | null {
  if (entries === null) return "has a quotation mark or an angle bracket that is not closed";
  if (entries.length === 0) return `must be ${WANTED}`;
  if (entries.length > ADDRESSES_MAX) return `must have at most ${ADDRESSES_MAX} addresses`;
  const wrong = entries.findIndex((entry) => !isAddress(entry));
  if (wrong === -1) return null;
  return entries.length === 1
    ? `must be ${WANTED}`
    : `has an entry, number ${wrong + 1} of ${entries.length}, which is not ${WANTED}`;
}

const configSchema = z
  .looseObject({
    to: addresses.meta({
      description:
        "One address, several with commas between them, an array, or a template that gives any of these",
    }),
    cc: addresses.optional(),
    bcc: addresses.optional(),
    from: address.optional().meta({
      description:
        "The sender. Without a connection one of a domain that the installation sends for, by default EMAIL_FROM; with one whatever the provider lets the account send as",
    }),
    replyTo: addresses.optional(),
    subject: z
      .string()
      .refine((text) => !/[\r\n]/.test(text), { error: "must be a single line" })
      .meta({ description: "One line" }),
    text: z.string().optional().meta({ description: "The message as plain text" }),
    html: z.string().optional().meta({ description: "The message as HTML" }),
    attachments: attachmentsSchema.optional().meta({
      description:
        "Files, each {filename, content or url, contentType?}; together at most 10 MiB once decoded",
    }),
    connectionId: connectionId.optional().meta({
      description:
        "A connection of resend, sendgrid or google-mail to send through, or a template; by default the run's when it is one of these, else the installation's mail server",
    }),
  })
  .refine((config) => config.text !== undefined || config.html !== undefined, {
    error: "an email has text, html or both",
  })
  .meta({ anyOf: [{ required: ["text"] }, { required: ["html"] }] });

/** Sends one e-mail (D17). */
export const emailStep: StepType = {
  type: "email",
  title: "Email",
  description:
    "Sends an e-mail with text, html or both. The output is {messageId, accepted, rejected}.",
  configSchema,
  inheritsRetry: true,
  takesConnection: true,

  check({ config }, stepPath, problems) {
    problems.parse(configSchema, config, [...stepPath, "config"]);
  },

  blocks: () => [],
  templateFields: ({ config }) =>
    fieldsOf(config, [...MESSAGE_KEYS, "attachments", "connectionId"]),

  compile({ config }, base) {
    return {
      ...base,
      type: "email",
      connectionId: compileOptional(config["connectionId"]),
      attachments: compileOptional(config["attachments"]),
      message: objectOf(
        Object.entries(pickOwn(config, MESSAGE_KEYS)).map(([key, value]) => [
          key,
          LIST_KEYS.has(key) ? compileAddresses(value) : compileTemplates(value),
        ]),
      ),
    };
  },
};

/**
 * Splits a list before its templates are resolved. So a template inside an entry, such as a name with a
 * comma, adds no recipient. A field that is one template takes any value of that template.
 */
function compileAddresses(value: unknown): CompiledValue {
  const whole = compileTemplates(value);
  if (typeof value !== "string" || whole.kind !== "text") return whole;
  return compileTemplates(splitAddresses(value, { templates: true }) ?? [value]);
}
