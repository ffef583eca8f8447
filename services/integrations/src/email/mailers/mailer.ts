import type { ProviderAnswer, RequestParts } from "@workflow/catalog";
import type { OutgoingMessage } from "../delivery.ts";

/** How one provider takes e-mail. */
export interface Mailer {
  /** The action of the catalog whose place the call has: `resend.sendEmail`. */
  readonly action: string;
  /** Whether a message has to say whom it is from; else the provider knows the account's own address. */
  readonly needsSender: boolean;
  /** The request, from what the catalog says of the action. */
  build(parts: RequestParts, message: OutgoingMessage): RequestParts | Promise<RequestParts>;
  /** The provider's id of a message that it took; null when it says none. */
  readMessageId(answer: ProviderAnswer): string | null;
}
