import { ExportResultCode } from "@opentelemetry/core";
import type { ExportResult } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace";
import type { ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace";

/** Spans that wait to be sent, about 1 KiB each; more are dropped. */
const QUEUE_MAX = 4_096;
const BATCH_MAX = 512;
const DELAY_MS = 2_000;
const EXPORT_TIMEOUT_MS = 5_000;
/** A batch that a slow collector still holds, and the next one. */
const REQUESTS_MAX = 2;
const STOP_MS = 2_000;

/** Why a span was not kept: too many waited, or the collector did not take it. */
export type SpanLoss = "queue_full" | "collector";

/** Told of what became of spans. */
export interface SpanCounts {
  sent(spans: number): void;
  lost(spans: number, reason: SpanLoss, cause?: Error): void;
}

/** Where spans are sent. */
export interface CollectorOptions {
  /** The base URL of OTLP over HTTP; spans go to `/v1/traces` below it. */
  endpoint: string;
  /** Sent with each request, such as a credential. */
  headers: Readonly<Record<string, string>>;
}

/**
 * Sends spans in batches, off the path of whoever ends them. What a collector that is away or slow does
 * not take is dropped and counted: there are never more than `QUEUE_MAX` spans and two batches in memory.
 */
export class SpanExport implements SpanProcessor {
  readonly #counts: SpanCounts;
  readonly #batches: BatchSpanProcessor;
  #waiting = 0;

  constructor(collector: CollectorOptions, counts: SpanCounts) {
    this.#counts = counts;
    this.#batches = new BatchSpanProcessor({
      exporter: this.#counting(
        new OTLPTraceExporter({
          url: `${collector.endpoint}/v1/traces`,
          headers: { ...collector.headers },
          timeoutMillis: EXPORT_TIMEOUT_MS,
          concurrencyLimit: REQUESTS_MAX,
        }),
      ),
      maxQueueSize: QUEUE_MAX,
      maxExportBatchSize: BATCH_MAX,
      scheduledDelayMillis: DELAY_MS,
      exportTimeoutMillis: EXPORT_TIMEOUT_MS,
    });
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    if (this.#waiting >= QUEUE_MAX) {
      this.#counts.lost(1, "queue_full");
      return;
    }
    this.#waiting += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  /** Sends what is there, for two seconds at most. Never rejects. */
  async shutdown(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_MS);
    });
    // What could not be sent was counted by the exporter.
    const done = this.#batches.shutdown().catch(() => {});
    await Promise.race([done, late]);
    clearTimeout(timer);
  }

  #counting(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) => {
        this.#waiting -= spans.length;
        exporter.export(spans, (result: ExportResult) => {
          if (result.code === ExportResultCode.SUCCESS) this.#counts.sent(spans.length);
          else this.#counts.lost(spans.length, "collector", result.error);
          done(result);
        });
      },
      shutdown: () => exporter.shutdown(),
    };
  }
}
