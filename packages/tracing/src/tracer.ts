import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Attributes, Span as RecordedSpan, Tracer as SdkTracer } from "@opentelemetry/api";
import { decide } from "./sampling.ts";
import type { Sampling } from "./sampling.ts";
import { spanIdOf } from "./span-ids.ts";
import type { SpanIds } from "./span-ids.ts";
import {
  isSampled,
  readTraceparent,
  toSpanContext,
  toTraceparent,
  traceIdOf,
  unsampled,
} from "./traceparent.ts";

/**
 * What is said of a span: ids, types, codes and numbers. Never inputs, outputs, secrets, or URLs with a query:
 * spans are kept and read outside of this system.
 */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** How a span begins. */
export interface SpanOptions {
  kind?: "internal" | "server" | "client" | "consumer";
  attributes?: SpanAttributes;
  /** Milliseconds since the epoch; now when absent. */
  startedAt?: number;
  /** By which the span can be linked to from anywhere: `linkTo` of another span. */
  knownAs?: string;
  /** Names of earlier spans of the same trace that this one goes on with. */
  linkTo?: string;
}

/** A span that is recorded. */
export interface Span {
  /** What calls that are made on its behalf send along. */
  readonly traceparent: string;
  /** 32 hexadecimal digits, for log lines. */
  readonly traceId: string;
  /** Renames a span whose name is only known later. */
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /**
   * Ends it; one that is never ended is not sent.
   *
   * @param failure the code of what it failed with; absent when it did not
   */
  end(failure?: string): void;
}

/** How the trace of a request goes on. */
export interface Beginning {
  /** Undefined when the trace is not recorded. */
  span: Span | undefined;
  /** To be handed on; undefined when the trace is not recorded and no caller has named one. */
  traceparent: string | undefined;
}

/** Makes the spans of one service. */
export interface Tracer {
  /**
   * Begins a trace, or this system's part of a caller's, as the sampler decides.
   *
   * @param parent the caller's valid `traceparent`
   */
  begin(name: string, parent: string | undefined, options?: SpanOptions): Beginning;
  /** A span of a trace that is recorded; undefined when there is none, or it is not recorded. */
  span(name: string, parent: string | null | undefined, options?: SpanOptions): Span | undefined;
}

/** A `traceparent` that is worth keeping: of a trace that is recorded, where this process records any. */
export function recordedTraceparent(tracer: Tracer | undefined, value: unknown): string | null {
  const traceparent = tracer === undefined ? undefined : readTraceparent(value);
  return traceparent !== undefined && isSampled(traceparent) ? traceparent : null;
}

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
} as const;

/** @see Tracer */
export function createTracer(sdk: SdkTracer, ids: SpanIds, sampling: Sampling): Tracer {
  const start = (name: string, parent: string | undefined, options: SpanOptions = {}): Span => {
    const { kind = "internal", attributes, startedAt, knownAs, linkTo } = options;
    const around =
      parent === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, { ...toSpanContext(parent), traceFlags: 1 });
    const links =
      linkTo === undefined || parent === undefined
        ? []
        : [{ context: { traceId: traceIdOf(parent), spanId: spanIdOf(linkTo), traceFlags: 1 } }];
    if (knownAs !== undefined) ids.use(spanIdOf(knownAs));
    const recorded = sdk.startSpan(
      name,
      {
        kind: KINDS[kind],
        ...(attributes === undefined ? {} : { attributes: given(attributes) }),
        ...(startedAt === undefined ? {} : { startTime: startedAt }),
        links,
      },
      around,
    );
    return new OpenSpan(recorded);
  };
  return {
    begin(name, parent, options) {
      if (decide(sampling, parent)) {
        const span = start(name, parent, options);
        return { span, traceparent: span.traceparent };
      }
      return { span: undefined, traceparent: parent === undefined ? undefined : unsampled(parent) };
    },
    span(name, parent, options) {
      if (parent === undefined || parent === null || !isSampled(parent)) return undefined;
      return start(name, parent, options);
    },
  };
}

class OpenSpan implements Span {
  readonly traceparent: string;
  readonly #recorded: RecordedSpan;

  constructor(recorded: RecordedSpan) {
    this.#recorded = recorded;
    this.traceparent = toTraceparent(recorded.spanContext());
  }

  get traceId(): string {
    return traceIdOf(this.traceparent);
  }

  rename(name: string): void {
    this.#recorded.updateName(name);
  }

  set(attributes: SpanAttributes): void {
    this.#recorded.setAttributes(given(attributes));
  }

  end(failure?: string): void {
    if (failure !== undefined) {
      this.#recorded.setStatus({ code: SpanStatusCode.ERROR });
      this.#recorded.setAttribute("error.type", failure);
    }
    this.#recorded.end();
  }
}

function given(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
