import { z } from "zod";
import { startHttpDouble } from "./http-double.ts";
import type { DoubleHandler, HttpDouble } from "./http-double.ts";

const attribute = z.object({
  key: z.string(),
  value: z.union([
    z.object({ stringValue: z.string() }).transform(({ stringValue }) => stringValue),
    z
      .object({ intValue: z.union([z.number(), z.string()]) })
      .transform(({ intValue }) => Number(intValue)),
    z.object({ doubleValue: z.number() }).transform(({ doubleValue }) => doubleValue),
    z.object({ boolValue: z.boolean() }).transform(({ boolValue }) => boolValue),
  ]),
});
const attributes = z
  .array(attribute)
  .default([])
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value])));

/** OTLP over HTTP as JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
const exported = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string().regex(/^[0-9a-f]{32}$/),
              spanId: z.string().regex(/^[0-9a-f]{16}$/),
              parentSpanId: z
                .string()
                .regex(/^[0-9a-f]{16}$/)
                .optional(),
              name: z.string(),
              kind: z.number(),
              startTimeUnixNano: z.coerce.bigint(),
              endTimeUnixNano: z.coerce.bigint(),
              attributes,
              links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
              status: z.object({ code: z.number().default(0) }),
            }),
          ),
        }),
      ),
    }),
  ),
});

type ExportedSpan = z.output<
  typeof exported
>["resourceSpans"][number]["scopeSpans"][number]["spans"][number];

/** A received span, with the service that made it. */
export interface CollectedSpan extends ExportedSpan {
  service: string;
}

/** A collector that keeps everything it receives. */
export interface OtlpCollector {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  requests: HttpDouble["requests"];
  /** All spans so far, in the order of their arrival. Throws when something is not OTLP. */
  spans(): CollectedSpan[];
  close(): Promise<void>;
}

/** Starts a collector of traces on 127.0.0.1; an optional handler makes its answers. */
export async function startOtlpCollector(
  handler: DoubleHandler = () => ({ body: {} }),
): Promise<OtlpCollector> {
  const double = await startHttpDouble(handler);
  return {
    url: double.url,
    requests: double.requests,
    spans: () =>
      double.requests.flatMap(({ path, body }) => {
        if (path !== "/v1/traces") throw new Error(`Nothing is taken at ${path}.`);
        return exported.parse(JSON.parse(body)).resourceSpans.flatMap(spansOf);
      }),
    close: () => double.close(),
  };
}

function spansOf({
  resource,
  scopeSpans,
}: z.output<typeof exported>["resourceSpans"][number]): CollectedSpan[] {
  const service = String(resource.attributes["service.name"]);
  return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })));
}
