import { z } from "zod";
import { fieldsOf, pickOwn } from "../step.ts";
import { compileOptional, compileTemplates } from "../template.ts";
import { connectionId } from "./config-parts.ts";
import type { StepType } from "./step-type.ts";

/** The parts of a message, in the order in which a stored input shows them. */
const MESSAGE_KEYS = ["to", "cc", "bcc", "from", "replyTo", "subject", "text", "html"] as const;
/** Recipients that one field may list. */
const ADDRESSES_MAX = 50;

/** `a@b.c` or `Name <a@b.c>`; roughly, for what an address may be is for the mail server to say. */
const ADDRESS = /^(?:[^<>\r\n]*< *[^\s@<>,;]+@[^\s@<>,;]+ *>| *[^\s@<>,;"]+@[^\s@<>,;"]+) *$/;
const address = z.string().refine((text) => text.includes("{{") || ADDRESS.test(text), {
  error:
    "must be an e-mail address such as ada@example.com or Ada <ada@example.com>, or a template",
});
const addresses = z.union([address, z.array(address).min(1).max(ADDRESSES_MAX)], {
  error: (issue) =>
    typeof issue.input === "string" || Array.isArray(issue.input)
      ? undefined
      : "must be an e-mail address or an array of them",
});

const configSchema = z
  .looseObject({
    to: addresses.meta({ description: "One address, or an array of them" }),
    cc: addresses.optional(),
    bcc: addresses.optional(),
    from: address.optional().meta({ description: "The sender; where none is given, EMAIL_FROM" }),
    replyTo: addresses.optional(),
    subject: z
      .string()
      .refine((text) => !/[\r\n]/.test(text), { error: "must be a single line" })
      .meta({ description: "One line" }),
    text: z.string().optional().meta({ description: "The message as plain text" }),
    html: z.string().optional().meta({ description: "The message as HTML" }),
    connectionId: connectionId.optional(),
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
  templateFields: ({ config }) => fieldsOf(config, [...MESSAGE_KEYS, "connectionId"]),

  compile({ config }, base) {
    return {
      ...base,
      type: "email",
      connectionId: compileOptional(config["connectionId"]),
      message: compileTemplates(pickOwn(config, MESSAGE_KEYS)),
    };
  },
};
