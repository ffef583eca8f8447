import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import type { SendEmailRequest } from "@workflow/proto/integrations/v1/email";
import { hasControls, parseMailAddress } from "@workflow/catalog";
import type { MailAddress } from "@workflow/catalog";
import type { NamedFile } from "../files/file.ts";
import { parseAttachments } from "./parse-attachments.ts";
import type { Refuse } from "./refuse.ts";

/** A message whose parts have been checked. */
export interface ParsedMessage {
  to: MailAddress[];
  cc: MailAddress[];
  bcc: MailAddress[];
  replyTo: MailAddress[];
  /** The sender; null for the installation's, or the account's of a connection. */
  from: MailAddress | null;
  subject: string;
  text: string | undefined;
  html: string | undefined;
  attachments: NamedFile[];
}

const KEY_CHARS_MAX = 500;
const RECIPIENTS_MAX = 50;
const REPLY_TO_MAX = 10;
/** The limit of an unfolded header line (RFC 5322, section 2.1.1). */
const SUBJECT_CHARS_MAX = 998;
const MESSAGE_BYTES_MAX = 10 * 1024 * 1024;

/**
 * Checks a request's message.
 *
 * @throws AppError BAD_REQUEST with every wrong field
 */
export function parseMessage(request: SendEmailRequest): ParsedMessage {
  const violations: Violation[] = [];
  const refuse = (path: string[], message: string): void => {
    violations.push({ path, message });
  };
  const message: ParsedMessage = {
    to: parseAddresses(request.to, "to", refuse),
    cc: parseAddresses(request.cc, "cc", refuse),
    bcc: parseAddresses(request.bcc, "bcc", refuse),
    replyTo: parseAddresses(request.replyTo, "replyTo", refuse),
    from: request.from === undefined ? null : parseOne(request.from, ["from"], refuse),
    subject: request.subject,
    text: request.text,
    html: request.html,
    attachments: parseAttachments(request.attachments, refuse),
  };
  checkCounts(request, refuse);
  checkContent(request, refuse);
  if (violations.length > 0) {
    const [first] = violations;
    const summary = first === undefined ? "" : ` ${first.path.join(".")} ${first.message}.`;
    throw new AppError("BAD_REQUEST", `The message is not valid:${summary}`, { violations });
  }
  return message;
}

function parseAddresses(texts: readonly string[], field: string, refuse: Refuse): MailAddress[] {
  // Too many recipients are refused without a check of each one.
  return texts.slice(0, RECIPIENTS_MAX).flatMap((text, index) => {
    const address = parseOne(text, [field, String(index)], refuse);
    return address === null ? [] : [address];
  });
}

function parseOne(text: string, path: string[], refuse: Refuse): MailAddress | null {
  const address = parseMailAddress(text);
  if (address === null) {
    refuse(path, "must be one e-mail address such as ada@example.com or Ada <ada@example.com>");
  }
  return address;
}

function checkCounts(request: SendEmailRequest, refuse: Refuse): void {
  const { idempotencyKey, to, cc, bcc, replyTo } = request;
  if (idempotencyKey === "" || idempotencyKey.length > KEY_CHARS_MAX) {
    refuse(["idempotencyKey"], `must have 1 to ${KEY_CHARS_MAX} characters`);
  }
  const recipients = to.length + cc.length + bcc.length;
  if (recipients === 0) refuse(["to"], "must name at least one recipient");
  if (recipients > RECIPIENTS_MAX) {
    refuse(["to"], `must name at most ${RECIPIENTS_MAX} recipients, cc and bcc included`);
  }
  if (replyTo.length > REPLY_TO_MAX) {
    refuse(["replyTo"], `must name at most ${REPLY_TO_MAX} addresses`);
  }
}

function checkContent({ subject, text, html }: SendEmailRequest, refuse: Refuse): void {
  if (hasControls(subject)) refuse(["subject"], "must be a single line without control characters");
  if (subject.length > SUBJECT_CHARS_MAX) {
    refuse(["subject"], `must have at most ${SUBJECT_CHARS_MAX} characters`);
  }
  if (text === undefined && html === undefined) refuse(["text"], "or html must be given");
  if (Buffer.byteLength(text ?? "") + Buffer.byteLength(html ?? "") > MESSAGE_BYTES_MAX) {
    refuse([text === undefined ? "html" : "text"], "must be at most 10 MiB, html included");
  }
}
