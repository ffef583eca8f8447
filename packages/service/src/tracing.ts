import { openTraces } from "@workflow/tracing";
import type { Sampling, Traces } from "@workflow/tracing";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { counterIn } from "./metrics.ts";

/** The settings of tracing. */
export interface TraceSettings extends Sampling {
  /** The collector's address; undefined without traces. */
  endpoint: string | undefined;
  headers: Readonly<Record<string, string>> | undefined;
}

/** Takes the settings of tracing from a process's configuration. */
export function traceSettings(
  config: Readonly<{
    OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
    OTEL_EXPORTER_OTLP_HEADERS?: Readonly<Record<string, string>> | undefined;
    OTEL_TRACES_SAMPLER: Sampling["sampler"];
    OTEL_TRACES_SAMPLER_ARG: number;
  }>,
): TraceSettings {
  return {
    endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    headers: config.OTEL_EXPORTER_OTLP_HEADERS,
    sampler: config.OTEL_TRACES_SAMPLER,
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
  };
}

/** The interval of repeated warnings: a collector that is away for a night leaves sixty lines an hour. */
const TELL_EVERY_MS = 60_000;

/** Opens the exporter to the collector; undefined without one. Problems are logged once a minute. */
export function openServiceTraces(
  { endpoint, headers = {}, ...sampling }: TraceSettings,
  { logger, metricsRegistry }: { logger: Logger; metricsRegistry: Registry },
): Traces | undefined {
  if (endpoint === undefined) return undefined;
  const sent = counterIn(metricsRegistry, {
    name: "tracing_spans_sent_total",
    help: "Spans that the collector has taken.",
  });
  const lost = counterIn(metricsRegistry, {
    name: "tracing_spans_lost_total",
    help: "Spans that were dropped: too many waited, or the collector did not take them.",
    labelNames: ["reason"],
  });
  let tellAt = 0;
  let untold = 0;
  return openTraces({
    endpoint,
    headers,
    ...sampling,
    counts: {
      sent: (spans) => sent.inc(spans),
      lost(spans, reason, cause) {
        lost.inc({ reason }, spans);
        untold += spans;
        const now = performance.now();
        if (now < tellAt) return;
        tellAt = now + TELL_EVERY_MS;
        logger.warn({ err: cause, spans: untold, reason }, "spans were lost");
        untold = 0;
      },
    },
  });
}
