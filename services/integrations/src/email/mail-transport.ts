import { isNativeError } from "node:util/types";
import { AppError } from "@workflow/errors";
import { createTransport } from "nodemailer";
import type { NodemailerError } from "nodemailer";
import type { MailAddress } from "@workflow/catalog";
import { recipientsOf } from "./delivery.ts";
import type { MailWay, OutgoingMessage, Reply } from "./delivery.ts";
import { readSmtpUrl } from "./smtp-url.ts";
import { toMail } from "./to-mail.ts";

/** The connections to the mail server. */
export interface MailTransport extends MailWay {
  /** Closes the connections, even those in use. */
  close(): void;
}

/** The time limits of a conversation with the mail server, in milliseconds. */
export interface MailTimeouts {
  connectMs: number;
  greetingMs: number;
  /** The limit of silence. */
  idleMs: number;
}

const DEFAULT_TIMEOUTS: MailTimeouts = { connectMs: 10_000, greetingMs: 10_000, idleMs: 30_000 };
const CONNECTIONS_MAX = 5;
/** The limit of messages in memory that wait for a connection. */
const PENDING_MAX = 200;
/** The share of one company, so that others always find a place. */
const PENDING_PER_COMPANY_MAX = 50;
const BUSY_RETRY_MS = 5_000;
const POOLED_IDLE_MS = 30_000;
const REPLY_CHARS_MAX = 500;
/** Replies that ask for authentication or refuse it (RFC 4954). The message is not at fault. */
const AUTH_CODES: readonly number[] = [530, 534, 535, 538];

/**
 * Creates the transport to the server that SMTP_URL names; the first message connects.
 *
 * @throws ConfigError when the URL is invalid
 */
export function createMailTransport(
  smtpUrl: string,
  timeouts: MailTimeouts = DEFAULT_TIMEOUTS,
): MailTransport {
  const { rejectUnauthorized, ...server } = readSmtpUrl(smtpUrl);
  const mailer = createTransport({
    ...server,
    tls: { rejectUnauthorized },
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    // Repeats messages whose connection turns out to be closed before anything was sent over it.
    maxRequeues: 2,
    idleTimeout: POOLED_IDLE_MS,
    connectionTimeout: timeouts.connectMs,
    dnsTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.greetingMs,
    socketTimeout: timeouts.idleMs,
  });
  let pending = 0;
  const pendingOf = new Map<string, number>();
  const count = (companyId: string, change: 1 | -1): void => {
    pending += change;
    const now = (pendingOf.get(companyId) ?? 0) + change;
    if (now === 0) pendingOf.delete(companyId);
    else pendingOf.set(companyId, now);
  };
  return {
    name: "The mail server",
    async send(message, { companyId }, signal) {
      const ofCompany = pendingOf.get(companyId) ?? 0;
      if (pending >= PENDING_MAX || ofCompany >= PENDING_PER_COMPANY_MAX) throw busy();
      count(companyId, 1);
      try {
        const mail = { ...toMail(message), envelope: envelopeOf(message), signal };
        const { rejected } = await mailer.sendMail(mail);
        const refused = recipientsOf(message).filter(isAmong(rejected ?? []));
        return { kind: "sent", rejected: refused, providerMessageId: null };
      } catch (error) {
        // oxlint-disable-next-line typescript/only-throw-error -- the reason is the caller's own
        if (signal.aborted) throw signal.reason;
        return { kind: "refused", reply: finalReply(error) };
      } finally {
        count(companyId, -1);
      }
    },
    close: () => mailer.close({ force: true }),
  };
}

/** Recipients come from the envelope alone, so bcc does not appear in the headers. */
function envelopeOf(message: OutgoingMessage) {
  return {
    from: message.from?.wireAddress ?? "",
    to: recipientsOf(message).map(({ wireAddress }) => wireAddress),
  };
}

function isAmong(refused: readonly unknown[]): (recipient: MailAddress) => boolean {
  const addresses = new Set(refused);
  return ({ wireAddress }) => addresses.has(wireAddress);
}

/** The reply that refused a message for good; other errors are thrown. */
function finalReply(error: unknown): Reply {
  if (!isMailError(error)) throw error;
  const { code, responseCode, response, permanent } = error;
  if (code === "EAUTH" || (responseCode !== undefined && AUTH_CODES.includes(responseCode))) {
    throw failed("The mail server did not accept the credentials of SMTP_URL.", error);
  }
  if (code === "ETLS" || error.originalCode?.includes("CERT") === true) {
    throw failed("No secure connection to the mail server could be made.", error);
  }
  const aboutMessage = code === "EENVELOPE" || code === "EMESSAGE";
  if (aboutMessage && response === undefined) {
    // nodemailer refused the message itself: larger than the server's SIZE, or an address that the
    // server cannot take.
    return { code: 554, status: null, text: "the mail server cannot take this message" };
  }
  if (aboutMessage && permanent === true && responseCode !== undefined) {
    return toReply(responseCode, response ?? "");
  }
  throw failed(describeFailure(code, responseCode, response), error);
}

function toReply(code: number, response: string): Reply {
  const status = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] ?? null;
  return { code, status, text: cleanReply(response) };
}

function describeFailure(
  code: string | undefined,
  responseCode: number | undefined,
  response: string | undefined,
): string {
  if (responseCode !== undefined && response !== undefined) {
    return `The mail server refused for now: ${cleanReply(response)}`;
  }
  if (code === "ETIMEDOUT") return "The mail server did not answer in time.";
  return "The mail server could not be reached, or broke off.";
}

/** A reply as one line of bounded length. */
function cleanReply(response: string): string {
  return response
    .replaceAll(/\p{Cc}+/gu, " ")
    .slice(0, REPLY_CHARS_MAX)
    .trim();
}

/** Our logs contain codes only: a reply may quote an address, and a secret may be part of the address. */
function failed(message: string, cause: NodemailerError): AppError {
  const { code, originalCode, command, responseCode } = cause;
  const internal = [code, originalCode, command, responseCode].filter(Boolean).join(" ");
  return new AppError("UPSTREAM_ERROR", message, { internal, cause });
}

function busy(): AppError {
  const message = "Too many e-mails are waiting for the mail server.";
  return new AppError("UPSTREAM_ERROR", message, { retryAfterMs: BUSY_RETRY_MS });
}

function isMailError(error: unknown): error is NodemailerError {
  return isNativeError(error);
}
