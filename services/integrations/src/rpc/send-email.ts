import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { SendEmailRequest, SendEmailResponse } from "@workflow/proto/integrations/v1/email";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { Mail } from "../email/mail.ts";
import { parseMessage } from "../email/parse-message.ts";
import { sendOnce } from "../email/send-once.ts";

/** Hands one message to the mail server, once for each idempotency key. */
export function sendEmail(context: {
  database: Database;
  mail: Mail;
}): UnaryMethod<SendEmailRequest, SendEmailResponse> {
  const { database, mail } = context;
  return rpc({
    scopes: "internal:effects",
    async handler(request, { identity, signal, log }) {
      const message = parseMessage(request);
      const { transport } = mail;
      if (transport === null) throw notConfigured("SMTP_URL is not set");
      const from = message.from ?? mail.defaultFrom;
      if (from === null) throw notConfigured("the message has no sender and EMAIL_FROM is not set");
      const key = { companyId: identity.companyId, idempotencyKey: request.idempotencyKey };
      return sendOnce({ database, transport, logger: log }, key, { ...message, from }, signal);
    },
  });
}

function notConfigured(what: string): AppError {
  return new AppError("NOT_CONFIGURED", `This installation cannot send the e-mail: ${what}.`);
}
