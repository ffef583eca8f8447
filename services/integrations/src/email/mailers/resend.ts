import { readPath } from "@workflow/catalog";
import { formatMailAddress } from "@workflow/catalog";
import type { Mailer } from "./mailer.ts";

/** https://resend.com/docs/api-reference/emails/send-email; a repeated Idempotency-Key sends once. */
export const resend: Mailer = {
  action: "resend.sendEmail",
  needsSender: true,
  build(parts, { from, to, cc, bcc, replyTo, subject, text, html, attachments }) {
    const body = {
      ...(from === null ? {} : { from: formatMailAddress(from) }),
      to: to.map(formatMailAddress),
      ...(cc.length === 0 ? {} : { cc: cc.map(formatMailAddress) }),
      ...(bcc.length === 0 ? {} : { bcc: bcc.map(formatMailAddress) }),
      ...(replyTo.length === 0 ? {} : { reply_to: replyTo.map(formatMailAddress) }),
      subject,
      ...(text === undefined ? {} : { text }),
      ...(html === undefined ? {} : { html }),
      ...(attachments.length === 0
        ? {}
        : {
            attachments: attachments.map(({ filename, contentType, content }) => ({
              filename,
              content: content.toString("base64"),
              ...(contentType === undefined ? {} : { content_type: contentType }),
            })),
          }),
    };
    return { ...parts, body };
  },
  readMessageId({ body }) {
    const id = readPath(body, "id");
    return typeof id === "string" ? id : null;
  },
};
