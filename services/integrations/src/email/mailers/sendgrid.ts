import type { MailAddress } from "@workflow/catalog";
import type { OutgoingMessage } from "../delivery.ts";
import type { Mailer } from "./mailer.ts";

/**
 * https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send. SendGrid has no idempotency
 * keys. A repeated message has the same Message-ID, so mail readers show it once.
 */
export const sendgrid: Mailer = {
  action: "sendgrid.sendMail",
  needsSender: true,
  build(parts, message) {
    const { from, replyTo, subject, text, html, attachments, messageId } = message;
    const [answersTo, ...more] = replyTo.map(toPerson);
    const content = [
      { type: "text/plain", value: text },
      { type: "text/html", value: html },
    ].filter(({ value }) => value !== undefined);
    const body = {
      personalizations: [recipientsFor(message)],
      ...(from === null ? {} : { from: toPerson(from) }),
      ...(answersTo === undefined
        ? {}
        : more.length === 0
          ? { reply_to: answersTo }
          : { reply_to_list: [answersTo, ...more] }),
      subject,
      content,
      headers: { "Message-ID": messageId },
      ...(attachments.length === 0
        ? {}
        : {
            attachments: attachments.map(({ filename, contentType, content: bytes }) => ({
              content: bytes.toString("base64"),
              filename,
              // SendGrid refuses a media type with parameters.
              ...(contentType === undefined ? {} : { type: contentType.split(";")[0]?.trim() }),
              disposition: "attachment",
            })),
          }),
    };
    return { ...parts, body };
  },
  readMessageId: ({ headers }) => headers["x-message-id"] ?? null,
};

/** SendGrid allows an address once, in one of the lists; the first occurrence counts. */
function recipientsFor({ to, cc, bcc }: OutgoingMessage) {
  const seen = new Set<string>();
  const firsts = (list: readonly MailAddress[]) =>
    list.filter(({ wireAddress }) => {
      const address = wireAddress.toLowerCase();
      return !seen.has(address) && seen.add(address);
    });
  const lists = { to: firsts(to), cc: firsts(cc), bcc: firsts(bcc) };
  return Object.fromEntries(
    Object.entries(lists)
      .filter(([, list]) => list.length > 0)
      .map(([name, list]) => [name, list.map(toPerson)]),
  );
}

function toPerson({ name, wireAddress }: MailAddress) {
  return { email: wireAddress, ...(name === "" ? {} : { name }) };
}
