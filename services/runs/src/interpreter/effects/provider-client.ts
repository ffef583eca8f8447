import type { CallCause } from "../../domain/run-facts.ts";
import type { DoneCall, PausedCall } from "./paused-call.ts";

/** The connections that a step and its run name; null where they name none. */
export interface NamedConnections {
  step: string | null;
  run: string | null;
}

/** The action of a provider that a step asks for. */
export interface ProviderCall {
  /** `<provider>.<action>`. */
  action: string;
  /** JSON text of an object. */
  inputs: string;
  named: NamedConnections;
  key: string;
  hasTurn: boolean;
  /** Requests go only to hosts that are in all of these lists (D66). */
  hostLimits: readonly (readonly string[])[];
}

/** What a request must carry to use a connection. It must never be stored or logged. */
export interface RequestAuthorization {
  connectionId: string;
  provider: string;
  /** The only origins that the request may go to. */
  origins: readonly string[];
  /** One of `origins` that may be a private address, since the operator has named it. */
  operatorOrigin: string | undefined;
  /** Header values by lower-case name. */
  headers: Readonly<Record<string, string>>;
  /** Headers that are sent unless the step sets its own. */
  defaultHeaders: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  body: Readonly<Record<string, string>>;
  /** Texts that must appear in nothing that is recorded. */
  secrets: readonly string[];
}

/** The client for providers, with the credentials of connections, at the integrations service. */
export interface ProviderClient {
  /**
   * Calls an action.
   *
   * @returns its output as JSON text
   * @throws StepError with the codes for providers in docs/errors.md, or the signal's reason when it was
   * aborted
   */
  execute(
    cause: CallCause,
    call: ProviderCall,
    signal: AbortSignal,
  ): Promise<DoneCall<string> | PausedCall>;
  /**
   * Returns what a request of the step's own making has to carry.
   *
   * @param provider undefined: that of the connection
   * @throws StepError as `execute` does
   */
  authorize(
    cause: CallCause,
    request: { provider: string | undefined; named: NamedConnections; hasTurn: boolean },
    signal: AbortSignal,
  ): Promise<{ kind: "authorized"; authorization: RequestAuthorization } | PausedCall>;
  /**
   * Reports the answer to such a request, whose status may mean that there were too many requests.
   *
   * @param ageMs how long ago the request was sent, in milliseconds
   * @returns the step's turn; null when the connection is not paused
   */
  report(
    cause: CallCause,
    answer: {
      connectionId: string;
      status: number;
      headers: Readonly<Record<string, string>>;
      ageMs: number;
    },
    signal: AbortSignal,
  ): Promise<PausedCall | null>;
  close(): void;
}
