import { createHash } from "node:crypto";
import { RandomIdGenerator } from "@opentelemetry/sdk-trace";
import type { IdGenerator } from "@opentelemetry/sdk-trace";

const SPAN_ID_DIGITS = 16;

/** Makes random ids, except for spans whose id other processes must derive from a name. */
export class SpanIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #next: string | undefined;

  /** Sets the id of the next span. Call it directly before the span is made. */
  use(spanId: string): void {
    this.#next = spanId;
  }

  generateTraceId(): string {
    return this.#random.generateTraceId();
  }

  generateSpanId(): string {
    const spanId = this.#next ?? this.#random.generateSpanId();
    this.#next = undefined;
    return spanId;
  }
}

/** The id of the span with a name, such as the id of a run: the same in every process. */
export function spanIdOf(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, SPAN_ID_DIGITS);
}
