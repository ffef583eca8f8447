import type { AppError } from "@workflow/errors";
import type { Logger } from "pino";
import type { ClientClues, ClientFacts } from "./client-facts.ts";
import { readClientFacts } from "./client-facts.ts";
import type { Span } from "@workflow/tracing";
import type { Identity } from "./identity.ts";

/** The facts of a call that its handler gets beside the request message. */
export interface RpcContext {
  /** The caller, from its verified token. */
  readonly identity: Identity;
  /** The id that connects all calls of one outside request (D7). */
  readonly requestId: string;
  /**
   * The W3C trace context to pass on: of this call's span where its trace is recorded, else the
   * caller's.
   */
  readonly traceparent?: string | undefined;
  /** The outside program and machine. */
  readonly client: ClientFacts;
  /** The time when the caller stops waiting. */
  readonly deadline: Date;
  /**
   * Aborted when the caller has cancelled or the deadline has passed; for a stream also when the
   * server closes. The reason is an AppError.
   */
  readonly signal: AbortSignal;
  /** A logger whose lines carry the request id, the company and the method. */
  readonly log: Logger;
}

/** The facts of a call before its token is verified. */
export interface CallStart {
  readonly rpc: string;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  readonly clues: ClientClues;
  /** performance.now() */
  readonly startedAt: number;
  /** Milliseconds since the epoch. */
  readonly deadlineMs: number;
  /** Ends with the report of the call; undefined when its trace is not recorded. */
  span?: Span | undefined;
}

/** An admitted call. Parts that not every call needs are made on first use. */
export class CallContext implements RpcContext {
  readonly start: CallStart;
  readonly identity: Identity;
  readonly #logger: Logger;
  #log: Logger | undefined;
  #client: ClientFacts | undefined;
  #controller: AbortController | undefined;
  #abortReason: AppError | undefined;

  constructor(start: CallStart, identity: Identity, logger: Logger) {
    this.start = start;
    this.identity = identity;
    this.#logger = logger;
  }

  get requestId(): string {
    return this.start.requestId;
  }

  get traceparent(): string | undefined {
    return this.start.span?.traceparent ?? this.start.traceparent;
  }

  get client(): ClientFacts {
    this.#client ??= readClientFacts(this.identity.principal, this.start.clues);
    return this.#client;
  }

  get deadline(): Date {
    return new Date(this.start.deadlineMs);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get log(): Logger {
    this.#log ??= this.#logger.child({
      requestId: this.start.requestId,
      company: this.identity.companyId,
      rpc: this.start.rpc,
      ...(this.start.span === undefined ? {} : { trace_id: this.start.span.traceId }),
    });
    return this.#log;
  }

  /** The reason for which the call was aborted, if it was. */
  get abortReason(): AppError | undefined {
    return this.#abortReason;
  }

  /** Aborts the signal, once; later calls change nothing. */
  abort(reason: AppError): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }
}
