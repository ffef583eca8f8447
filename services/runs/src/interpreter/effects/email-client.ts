import type { CallCause } from "../../domain/run-facts.ts";
import type { DoneCall, PausedCall } from "./paused-call.ts";
import type { NamedConnections } from "./provider-client.ts";
import type { EmailAttachment, EmailMessage } from "../steps/email-message.ts";

/** A message with its files and the connection that sends it. */
export interface EmailLetter extends EmailMessage {
  attachments: EmailAttachment[];
  named: NamedConnections;
}

/** The outcome of a message that was accepted, as the step's output has it (D17). */
export interface EmailOutcome {
  messageId: string;
  /** Addresses that the mail server or provider accepted, and those that it refused. */
  accepted: string[];
  rejected: string[];
}

/** The client for e-mail, at the integrations service. */
export interface EmailClient {
  /**
   * Sends one message. The same key gives the outcome of the first call again, so a step that is executed
   * twice sends once.
   *
   * @param hasTurn whether the wait that an earlier result asked for is over
   * @throws StepError EMAIL_REJECTED (for good), EMAIL_FAILED (may work later), EMAIL_SENDER_NOT_ALLOWED,
   * EMAIL_QUOTA, NOT_CONFIGURED, or a code of connections; the signal's reason when it was aborted
   */
  send(
    cause: CallCause,
    letter: EmailLetter,
    call: { key: string; hasTurn: boolean },
    signal: AbortSignal,
  ): Promise<DoneCall<EmailOutcome> | PausedCall>;
  close(): void;
}
