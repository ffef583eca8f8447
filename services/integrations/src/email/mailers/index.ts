import { googleMail } from "./google-mail.ts";
import type { Mailer } from "./mailer.ts";
import { resend } from "./resend.ts";
import { sendgrid } from "./sendgrid.ts";

/** Providers whose connections can send e-mail, by their ids. */
export const MAILERS: ReadonlyMap<string, Mailer> = new Map([
  ["resend", resend],
  ["sendgrid", sendgrid],
  ["google-mail", googleMail],
]);
