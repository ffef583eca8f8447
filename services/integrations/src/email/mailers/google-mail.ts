import { readPath } from "@workflow/catalog";
import MailComposer from "nodemailer/lib/mail-composer";
import type { MailAddress } from "@workflow/catalog";
import type { OutgoingMessage } from "../delivery.ts";
import { toMail } from "../to-mail.ts";
import type { Mailer } from "./mailer.ts";

/** Google recommends its upload address above 5 MB. */
const RAW_CHARS_MAX = 5_000_000;

/**
 * https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/send. A repeated
 * message has the same Message-ID, so mail readers show it once.
 */
export const googleMail: Mailer = {
  action: "google-mail.sendMessage",
  needsSender: false,
  async build(parts, message) {
    const mime = await compose(message);
    const raw = mime.toString("base64url");
    if (raw.length <= RAW_CHARS_MAX) return { ...parts, body: { raw } };
    return {
      ...parts,
      path: `/upload${parts.path}`,
      query: { ...parts.query, uploadType: "media" },
      headers: { ...parts.headers, "content-type": "message/rfc822" },
      body: mime.toString(),
    };
  },
  readMessageId({ body }) {
    const id = readPath(body, "id");
    return typeof id === "string" ? id : null;
  },
};

/** A message by RFC 5322. Gmail takes the recipients from its headers, and removes Bcc. */
function compose(message: OutgoingMessage): Promise<Buffer> {
  const bcc = message.bcc.map(({ name, wireAddress }: MailAddress) => ({
    name,
    address: wireAddress,
  }));
  const node = new MailComposer({ ...toMail(message), bcc }).compile();
  node.keepBcc = true;
  return node.build();
}
