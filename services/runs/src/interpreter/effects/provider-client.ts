import type { CallCause } from "../../domain/run-facts.ts";
import type { DoneCall, PausedCall } from "./paused-call.ts";

/** The connections that a step and its run name; null where they name none. */
export interface NamedConnections {
  step: string | null;
  run: string | null;
}

/** An action of a provider as a step asks for it. */
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

/** What a request has to carry to be a connection's; never to be stored or logged. */
export interface RequestAuthorization {
  connectionId: string;
  provider: string;
  /** The only ones that the request may go to. */
  origins: readonly string[];
  /** One of them, which may be a private address: the operator has named it. */
  operatorOrigin: string | undefined;
  /** By lower-case names. */
  headers: Readonly<Record<string, string>>;
  /** Sent unless the step has its own. */
  defaultHeaders: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  body: Readonly<Record<string, string>>;
  /** Texts that nothing may repeat that is recorded. */
  secrets: readonly string[];
}

/** The way out to providers, with the credentials of connections: the integrations service. */
export interface ProviderClient {
  /**
   * Calls an action.
   *
   * @returns its output as JSON text
   * @throws StepError with the codes that docs/errors.md has of providers; the signal's reason when it was
   * aborted
   */
  execute(
    cause: CallCause,
    call: ProviderCall,
    signal: AbortSignal,
  ): Promise<DoneCall<string> | PausedCall>;
  /**
   * Gives what a request of the step's own making has to carry. Throws like `execute`.
   *
   * @param provider undefined: that of the connection
   */
  authorize(
    cause: CallCause,
    request: { provider: string | undefined; named: NamedConnections; hasTurn: boolean },
    signal: AbortSignal,
  ): Promise<{ kind: "authorized"; authorization: RequestAuthorization } | PausedCall>;
  /**
   * Tells of the answer to such a request, whose status may mean that there were too many.
   *
   * @param ageMs how long ago the request was sent
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
