import { randomUUID } from "node:crypto";
import MailComposer from "nodemailer/lib/mail-composer";
import { formatMailAddress } from "../../mail-address.ts";
import { readAddresses, readMailFiles } from "../../mail-inputs.ts";
import type { ConnectionFields } from "../../provider-manifest.ts";
import { uuidOf } from "../../uuid-of.ts";

/** The value of Gmail's `raw`: the message by RFC 5322, in base64url. */
export async function composeMessage({
  inputs,
  fields,
  idempotencyKey,
}: {
  inputs: Readonly<Record<string, unknown>>;
  fields: ConnectionFields;
  idempotencyKey?: string | undefined;
}): Promise<string> {
  const [from] = readAddresses(inputs, "from");
  const sender = from?.wireAddress ?? fields["emailAddress"] ?? "gmail.com";
  const messageKey = idempotencyKey === undefined ? randomUUID() : uuidOf(idempotencyKey);
  const inReplyTo = textOf(inputs, "inReplyTo");
  const composer = new MailComposer({
    ...(from === undefined ? {} : { from }),
    to: readAddresses(inputs, "to"),
    cc: readAddresses(inputs, "cc"),
    bcc: readAddresses(inputs, "bcc"),
    replyTo: readAddresses(inputs, "replyTo").map(formatMailAddress),
    subject: textOf(inputs, "subject"),
    text: textOf(inputs, "text"),
    html: textOf(inputs, "html"),
    inReplyTo,
    references: textOf(inputs, "references") ?? inReplyTo,
    attachments: readMailFiles(inputs, "attachments").map(({ content, ...file }) => ({
      ...file,
      content: Buffer.from(content, "base64"),
    })),
    // The Message-ID is equal for every attempt of a step, so mailboxes may recognize a repeated message.
    // Without one the composer would use this machine's name.
    messageId: `<${messageKey}@${sender.split("@").at(-1)}>`,
    // Content is always literal, never the name of a file or a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const message = composer.compile();
  // Gmail reads the recipients from the headers, and does not forward Bcc.
  message.keepBcc = true;
  return (await message.build()).toString("base64url");
}

function textOf(inputs: Readonly<Record<string, unknown>>, key: string): string | undefined {
  const value = Object.hasOwn(inputs, key) ? inputs[key] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}
