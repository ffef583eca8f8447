import type { LoadedFile } from "../files/file.ts";
import type { MailAddress } from "@workflow/catalog";
import type { ParsedMessage } from "./parse-message.ts";

/** A message whose sender is settled; null where the provider knows the account's own. */
export type AddressedMessage = ParsedMessage & { from: MailAddress | null };

/** A message ready to go. */
export interface OutgoingMessage extends Omit<AddressedMessage, "attachments"> {
  attachments: readonly LoadedFile[];
  /** With its angle brackets. */
  messageId: string;
  date: Date;
}

/** The last word of the mail server, or of a provider, on a message. */
export type Delivery =
  | {
      kind: "sent";
      rejected: readonly MailAddress[];
      /** The provider's own id of the message; null: it goes by its Message-ID. */
      providerMessageId: string | null;
    }
  | { kind: "refused"; reply: Reply };

/** How a message was refused: 550, 5.1.1 where it was said, and in what words. */
export interface Reply {
  code: number;
  status: string | null;
  text: string;
}

/** A way that messages go. */
export interface MailWay {
  /** For people, at the beginning of a sentence. */
  readonly name: string;
  /**
   * Hands a message over. Under the same Message-ID it is the same message.
   *
   * @throws AppError UPSTREAM_ERROR when it could not be handed over, was refused for now, or nobody knows;
   * whether it was taken is then unknown. The signal's reason when it was aborted.
   */
  send(message: OutgoingMessage, key: MessageKey, signal: AbortSignal): Promise<Delivery>;
}

/** Whose message it is, and which. */
export interface MessageKey {
  companyId: string;
  idempotencyKey: string;
}

/** Everyone whom a message goes to, each mailbox once. */
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
