import { resourceFromAttributes } from "@opentelemetry/resources";
import { AlwaysOnSampler, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Sampling } from "./sampling.ts";
import { SpanExport } from "./span-export.ts";
import type { CollectorOptions, SpanCounts } from "./span-export.ts";
import { SpanIds } from "./span-ids.ts";
import { createTracer } from "./tracer.ts";
import type { Tracer } from "./tracer.ts";

/** The collector of spans, and the sampling of traces. */
export interface TracesOptions extends CollectorOptions, Sampling {
  counts: SpanCounts;
}

/** The exporter of a process's spans. */
export interface Traces {
  /** The tracer of a service, whose name is the `service.name` of the spans. */
  tracer(service: string): Tracer;
  /** Sends the waiting spans, for two seconds at most. Never rejects. */
  close(): Promise<void>;
}

const NAMESPACE = "workflow";
/** Longer values are cut. Ids, types and codes are far shorter. */
const VALUE_CHARS_MAX = 256;

/** Opens the exporter; the collector may be absent. */
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
        // The sampling was decided before, so only spans of recorded traces arrive here.
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
