import { createHash } from "node:crypto";
import { RandomIdGenerator } from "@opentelemetry/sdk-trace";
import type { IdGenerator } from "@opentelemetry/sdk-trace";

const SPAN_ID_DIGITS = 16;

/** Random ids, but for spans whose id others have to know without having heard of them. */
export class SpanIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #next: string | undefined;

  /** The next span gets this id. Only directly before it is made. */
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

/** The id of the span that is known by this name, such as the id of a run: the same in every process. */
export function spanIdOf(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, SPAN_ID_DIGITS);
}
