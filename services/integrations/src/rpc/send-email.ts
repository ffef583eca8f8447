import { AppError } from "@workflow/errors";
import type { SendEmailRequest, SendEmailResponse } from "@workflow/proto/integrations/v1/email";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { CallContext } from "../actions/call-provider.ts";
import type { ServiceContext } from "../context.ts";
import { createConnectionWay, PausedConnectionError } from "../email/connection-way.ts";
import type { MailConnection } from "../email/connection-way.ts";
import type { AddressedMessage, MailWay } from "../email/delivery.ts";
import { findMailConnection } from "../email/find-mail-connection.ts";
import type { Mail } from "../email/mail.ts";
import { parseMessage } from "../email/parse-message.ts";
import type { ParsedMessage } from "../email/parse-message.ts";
import { findSent, sendOnce } from "../email/send-once.ts";
import { chooseSender, notConfigured } from "../email/sender-policy.ts";
import { toFailureMessage, toPause } from "./action-message.ts";

/** Sends one message through the mail server or a provider, once for each idempotency key. */
export function sendEmail(
  context: CallContext & Pick<ServiceContext, "database" | "mail">,
): UnaryMethod<SendEmailRequest, SendEmailResponse> {
  const { database, mail, files } = context;
  return rpc({
    scopes: "internal:effects",
    async handler(request, { identity, signal, log }) {
      const parsed = parseMessage(request);
      const { companyId } = identity;
      const key = { companyId, idempotencyKey: request.idempotencyKey };
      // The outcome is looked up before the connection, which may be deleted or paused by now.
      const known = await findSent(database, key, parsed);
      if (known !== null) return known;
      try {
        const named = { step: request.connectionId, run: request.runConnectionId };
        const connection = await findMailConnection(database, companyId, named);
        const { message, way, perDay } =
          connection === null
            ? overMailServer(mail, parsed)
            : await overConnection(
                context,
                connection,
                { companyId, hasTurn: request.hasTurn },
                parsed,
              );
        return await sendOnce({ database, way, files, perDay, logger: log }, key, message, signal);
      } catch (error) {
        const nothing = { messageId: "", accepted: [], rejected: [] };
        if (error instanceof PausedConnectionError) {
          return { ...nothing, pause: toPause(error.pause) };
        }
        return { ...nothing, failure: toFailureMessage(error) };
      }
    },
  });
}

/** The installation sends for its own domains only, and to a limited number per day (D61). */
function overMailServer(
  { transport, senders, perDay }: Mail,
  message: ParsedMessage,
): { message: AddressedMessage; way: MailWay; perDay: number } {
  if (transport === null) {
    throw notConfigured(
      "SMTP_URL is not set, and the step names no connection of a provider of e-mail",
    );
  }
  return {
    message: { ...message, from: chooseSender(senders, message.from) },
    way: transport,
    perDay,
  };
}

/** The provider decides which senders its account may use, and limits the number of messages. */
async function overConnection(
  context: CallContext,
  connection: MailConnection,
  { companyId, hasTurn }: { companyId: string; hasTurn: boolean },
  message: ParsedMessage,
): Promise<{ message: AddressedMessage; way: MailWay; perDay: number }> {
  const { connectionId } = connection;
  // Without this check, a paused connection would have its files fetched for nothing.
  const waitMs = await context.pauses.waitFor({ companyId, connectionId }, hasTurn);
  if (waitMs !== null) throw new PausedConnectionError({ waitMs });
  return {
    message: senderOf(connection, message),
    way: createConnectionWay(context, connection, hasTurn),
    perDay: 0,
  };
}

function senderOf({ mailer, provider }: MailConnection, message: ParsedMessage): AddressedMessage {
  if (message.from !== null || !mailer.needsSender) return message;
  const wanted = `is required: ${provider.name} sends as no address of its own choice`;
  throw new AppError("BAD_REQUEST", `The message is not valid: from ${wanted}.`, {
    violations: [{ path: ["from"], message: wanted }],
  });
}
