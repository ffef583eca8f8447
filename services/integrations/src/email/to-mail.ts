import type { MailAddress } from "@workflow/catalog";
import type { OutgoingMessage } from "./delivery.ts";

/** A message in nodemailer's form, without the recipients in bcc. */
export function toMail(message: OutgoingMessage) {
  const { from, to, cc, replyTo, subject, text, html, attachments, messageId, date } = message;
  return {
    ...(from === null ? {} : { from: toHeader(from) }),
    to: to.map(toHeader),
    cc: cc.map(toHeader),
    replyTo: replyTo.map(toHeader),
    subject,
    messageId,
    date,
    ...(text === undefined ? {} : { text }),
    ...(html === undefined ? {} : { html }),
    attachments: attachments.map(({ filename, contentType, content }) => ({
      filename,
      content,
      // Without a type, a file's name alone could make it a message within the message.
      contentType: contentType ?? (isMessageName(filename) ? OCTETS : undefined),
      contentDisposition: "attachment" as const,
      contentTransferEncoding: "base64" as const,
    })),
    // Contents of steps are text. Nodemailer must never read a file or a URL for them.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

const OCTETS = "application/octet-stream";

function isMessageName(filename: string): boolean {
  return /\.(?:eml|mht|mhtml|mime|nws)$/i.test(filename);
}

function toHeader({ name, wireAddress }: MailAddress) {
  return { name, address: wireAddress };
}
