export { SAMPLERS } from "./sampling.ts";
export type { Sampling } from "./sampling.ts";
export type { SpanCounts, SpanLoss } from "./span-export.ts";
export { isSampled, readTraceparent, traceIdOf } from "./traceparent.ts";
export { recordedTraceparent } from "./tracer.ts";
export type { Beginning, Span, SpanAttributes, SpanOptions, Tracer } from "./tracer.ts";
export { openTraces } from "./traces.ts";
export type { Traces, TracesOptions } from "./traces.ts";
