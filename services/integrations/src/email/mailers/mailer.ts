import type { ProviderAnswer, RequestParts } from "@workflow/catalog";
import type { OutgoingMessage } from "../delivery.ts";

/** The requests by which one provider sends e-mail. */
export interface Mailer {
  /** The catalog's action that the call replaces: `resend.sendEmail`. */
  readonly action: string;
  /** Whether a message must name its sender; otherwise the provider uses the account's own address. */
  readonly needsSender: boolean;
  /** Builds the request from the parts that the catalog's action has made. */
  build(parts: RequestParts, message: OutgoingMessage): RequestParts | Promise<RequestParts>;
  /** The provider's id of an accepted message; null without one. */
  readMessageId(answer: ProviderAnswer): string | null;
}
