import type { CallCause } from "../../domain/run-facts.ts";
import type { DoneCall, PausedCall } from "./paused-call.ts";
import type { NamedConnections } from "./provider-client.ts";
import type { EmailAttachment, EmailMessage } from "../steps/email-message.ts";

/** A message with its files, and the way that it goes. */
export interface EmailLetter extends EmailMessage {
  attachments: EmailAttachment[];
  named: NamedConnections;
}

/** What became of a message that was taken, as the step's output has it (D17). */
export interface EmailOutcome {
  messageId: string;
  /** Addresses that the mail server or the provider took, and those that it refused. */
  accepted: string[];
  rejected: string[];
}

/** The way out for e-mail: the integrations service. */
export interface EmailClient {
  /**
   * Sends one message. The same key again gives the outcome of the first call, so a step that is
   * executed twice sends once.
   *
   * @param hasTurn the turn that an earlier result gave has come
   * @throws StepError EMAIL_REJECTED (for good), EMAIL_FAILED (may work later),
   * EMAIL_SENDER_NOT_ALLOWED, EMAIL_QUOTA, NOT_CONFIGURED, or a code of connections; the signal's reason
   * when it was aborted
   */
  send(
    cause: CallCause,
    letter: EmailLetter,
    call: { key: string; hasTurn: boolean },
    signal: AbortSignal,
  ): Promise<DoneCall<EmailOutcome> | PausedCall>;
  close(): void;
}
