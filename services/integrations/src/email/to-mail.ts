import type { MailAddress } from "@workflow/catalog";
import type { OutgoingMessage } from "./delivery.ts";

/** A message in the terms of nodemailer, which writes headers and parts; recipients in bcc are left out. */
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
      // By its name alone it could become a message within the message.
      contentType: contentType ?? (isMessageName(filename) ? OCTETS : undefined),
      contentDisposition: "attachment" as const,
      contentTransferEncoding: "base64" as const,
    })),
    // What steps pass on is text: never the name of a file or a page to be attached.
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
