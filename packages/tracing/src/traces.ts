import { resourceFromAttributes } from "@opentelemetry/resources";
import { AlwaysOnSampler, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Sampling } from "./sampling.ts";
import { SpanExport } from "./span-export.ts";
import type { CollectorOptions, SpanCounts } from "./span-export.ts";
import { SpanIds } from "./span-ids.ts";
import { createTracer } from "./tracer.ts";
import type { Tracer } from "./tracer.ts";

/** Where spans go, and of which traces. */
export interface TracesOptions extends CollectorOptions, Sampling {
  counts: SpanCounts;
}

/** The way of a process's spans to a collector. */
export interface Traces {
  /** Makes the spans of a service, which is the `service.name` that they carry. */
  tracer(service: string): Tracer;
  /** Sends what is there, for two seconds at most. Never rejects. */
  close(): Promise<void>;
}

const NAMESPACE = "workflow";
/** Longer values are cut. Ids, types and codes are far shorter. */
const VALUE_CHARS_MAX = 256;

/** Opens the way; the collector need not be there. */
export function openTraces(options: TracesOptions): Traces {
  const spanExport = new SpanExport(options, options.counts);
  return {
    tracer(service) {
      const ids = new SpanIds();
      const provider = new TracerProvider({
        resource: resourceFromAttributes({
          "service.name": service,
          "service.namespace": NAMESPACE,
          "process.pid": process.pid,
        }),
        // Which traces are recorded was decided before: only those reach it.
        sampler: new AlwaysOnSampler(),
        spanLimits: { attributeValueLengthLimit: VALUE_CHARS_MAX },
        idGenerator: ids,
        spanProcessors: [spanExport],
      });
      return createTracer(provider.getTracer("workflow"), ids, options);
    },
    close: () => spanExport.shutdown(),
  };
}
