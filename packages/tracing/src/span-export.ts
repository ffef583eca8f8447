import { ExportResultCode } from "@opentelemetry/core";
import type { ExportResult } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace";
import type { ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace";

/** The limit of waiting spans, about 1 KiB each; further ones are dropped. */
const QUEUE_MAX = 4_096;
const BATCH_MAX = 512;
const DELAY_MS = 2_000;
const EXPORT_TIMEOUT_MS = 5_000;
/**
 * The limit of concurrent requests: a stop sends all batches at once, while otherwise one follows the
 * other. Requests beyond it would be refused.
 */
const REQUESTS_MAX = QUEUE_MAX / BATCH_MAX + 1;
const STOP_MS = 2_000;

/** The reason why a span was lost: too many waited, or the collector did not take it. */
export type SpanLoss = "queue_full" | "collector";

/** Counts the sent and the lost spans. */
export interface SpanCounts {
  sent(spans: number): void;
  lost(spans: number, reason: SpanLoss, cause?: Error): void;
}

/** The address and the headers of the collector. */
export interface CollectorOptions {
  /** The base URL of OTLP over HTTP; spans go to `/v1/traces` below it. */
  endpoint: string;
  /** The headers of each request, such as a credential. */
  headers: Readonly<Record<string, string>>;
}

/**
 * Sends spans in batches, so that the code which ends a span never waits. A batch that a slow or absent
 * collector does not take is dropped and counted. At most `QUEUE_MAX` spans and two batches are in
 * memory.
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

  /** Sends the waiting spans, for two seconds at most. Never rejects. */
  async shutdown(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, STOP_MS);
    });
    // The exporter has counted the spans that could not be sent.
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
