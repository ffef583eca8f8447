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
 * The attributes of a span: ids, types, codes and numbers. Inputs, outputs, secrets and URLs with a
 * query never belong here, because spans are stored and read outside of this system.
 */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** The options of a new span. */
export interface SpanOptions {
  kind?: "internal" | "server" | "client" | "consumer";
  attributes?: SpanAttributes;
  /** A value of performance.now(), in milliseconds; now when absent. */
  startedAt?: number;
  /** A name under which other processes can link to the span, by `linkTo`. */
  knownAs?: string;
  /** The name of an earlier span of the same trace, to which this one links. */
  linkTo?: string;
}

/** A recorded span. */
export interface Span {
  /** The trace context of calls that this span causes. */
  readonly traceparent: string;
  /** The trace id, 32 hexadecimal digits, for log lines. */
  readonly traceId: string;
  /** Renames a span whose name is only known later. */
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /**
   * Ends the span; a span that is never ended is not sent.
   *
   * @param failure the code of the failure; absent after a success
   */
  end(failure?: string): void;
}

/** The span and the trace context of a request. */
export interface Beginning {
  /** Undefined when the trace is not recorded. */
  span: Span | undefined;
  /** The trace context to pass on; undefined when the trace is not recorded and no caller has named one. */
  traceparent: string | undefined;
}

/** Makes the spans of one service. */
export interface Tracer {
  /**
   * Begins a trace, or this system's part of a caller's trace, as the sampler decides.
   *
   * @param parent the caller's valid `traceparent`
   */
  begin(name: string, parent: string | undefined, options?: SpanOptions): Beginning;
  /** A new span of a recorded trace; undefined without a trace, or when the trace is not recorded. */
  span(name: string, parent: string | null | undefined, options?: SpanOptions): Span | undefined;
}

/** The `traceparent` when its trace is recorded and this process records spans; otherwise undefined. */
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
    // The same clock as at the beginning. Date.now() has whole milliseconds only, and somebody may set
    // that clock.
    this.#recorded.end(performance.now());
  }
}

function given(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}
