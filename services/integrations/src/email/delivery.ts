import type { LoadedFile } from "../files/file.ts";
import type { MailAddress } from "@workflow/catalog";
import type { ParsedMessage } from "./parse-message.ts";

/** A message with its sender; null when only the provider knows the account's address. */
export type AddressedMessage = ParsedMessage & { from: MailAddress | null };

/** A message ready to go. */
export interface OutgoingMessage extends Omit<AddressedMessage, "attachments"> {
  attachments: readonly LoadedFile[];
  /** The Message-ID with its angle brackets. */
  messageId: string;
  date: Date;
}

/** The final answer of the mail server, or of a provider, about a message. */
export type Delivery =
  | {
      kind: "sent";
      rejected: readonly MailAddress[];
      /** The provider's own id of the message; null when the Message-ID identifies it. */
      providerMessageId: string | null;
    }
  | { kind: "refused"; reply: Reply };

/**
 * The refusal of a message: a code such as 550, an enhanced status such as 5.1.1 where one was sent,
 * and the text.
 */
export interface Reply {
  code: number;
  status: string | null;
  text: string;
}

/** A way to send messages. */
export interface MailWay {
  /** The name for people, at the beginning of a sentence. */
  readonly name: string;
  /**
   * Sends a message. The same Message-ID means the same message.
   *
   * @throws AppError UPSTREAM_ERROR when the message could not be sent, was refused for now, or the
   * outcome is unknown; the signal's reason when it was aborted
   */
  send(message: OutgoingMessage, key: MessageKey, signal: AbortSignal): Promise<Delivery>;
}

/** The company and the key of a message. */
export interface MessageKey {
  companyId: string;
  idempotencyKey: string;
}

/** All recipients of a message, each mailbox once. */
export function recipientsOf({
  to,
  cc,
  bcc,
}: Pick<ParsedMessage, "to" | "cc" | "bcc">): MailAddress[] {
  const byAddress = new Map<string, MailAddress>();
  for (const each of [...to, ...cc, ...bcc]) {
    if (!byAddress.has(each.wireAddress)) byAddress.set(each.wireAddress, each);
  }
  return [...byAddress.values()];
}
