import type { SpanContext } from "@opentelemetry/api";

/** Version ff and ids of zeros are invalid: https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const TRACE_ID = { from: 3, to: 35 };
const SPAN_ID = { from: 36, to: 52 };
const FLAGS_FROM = 53;
const SAMPLED = 1;

/** A received `traceparent` header; undefined when it is missing or invalid. */
export function readTraceparent(value: unknown): string | undefined {
  return typeof value === "string" && TRACEPARENT.test(value) ? value : undefined;
}

/** Whether the trace of a valid `traceparent` is recorded. */
export function isSampled(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(FLAGS_FROM), 16) & SAMPLED) === SAMPLED;
}

/** The trace id in a valid `traceparent`, 32 hexadecimal digits. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(TRACE_ID.from, TRACE_ID.to);
}

/** The same `traceparent`, marked as not recorded. */
export function unsampled(traceparent: string): string {
  return `${traceparent.slice(0, FLAGS_FROM)}00`;
}

/** A valid `traceparent` in OpenTelemetry's form. */
export function toSpanContext(traceparent: string): SpanContext {
  return {
    traceId: traceIdOf(traceparent),
    spanId: traceparent.slice(SPAN_ID.from, SPAN_ID.to),
    traceFlags: isSampled(traceparent) ? SAMPLED : 0,
    isRemote: true,
  };
}

/** The `traceparent` of a span that is recorded. */
export function toTraceparent({ traceId, spanId }: SpanContext): string {
  return `00-${traceId}-${spanId}-01`;
}
