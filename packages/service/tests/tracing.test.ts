import { afterEach, describe, expect, it } from "@jest/globals";
import { startOtlpCollector, waitFor } from "@workflow/testkit";
import type { OtlpCollector } from "@workflow/testkit";
import pino from "pino";
import { Registry } from "prom-client";
import { openServiceTraces } from "../src/index.ts";
import type { TraceSettings } from "../src/index.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** The traces of a process, its registry and its log. */
function open(settings: Partial<TraceSettings> & { endpoint: string }) {
  const registry = new Registry();
  const lines: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line) => lines.push(line) });
  const traces = openServiceTraces(
    { sampler: "always_on", ratio: 1, headers: undefined, ...settings },
    { logger, metricsRegistry: registry },
  );
  if (traces === undefined) throw new Error("There are no traces.");
  closing.push(() => traces.close());
  const valueOf = async (name: string, labels: object = {}): Promise<number> => {
    const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] };
    const wanted = JSON.stringify(labels);
    return values.find((value) => JSON.stringify(value.labels) === wanted)?.value ?? 0;
  };
  return { traces, tracer: traces.tracer("test"), lines, valueOf };
}

async function collect(...handler: Parameters<typeof startOtlpCollector>): Promise<OtlpCollector> {
  const collector = await startOtlpCollector(...handler);
  closing.push(() => collector.close());
  return collector;
}

const SAMPLED = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
const UNSAMPLED = `00-${"a".repeat(32)}-${"b".repeat(16)}-00`;

describe("whether a trace is recorded", () => {
  it.each([
    // Ids of zeros and ones are what samplers of ids always, or never, take.
    { sampler: "traceidratio", ratio: 0, parent: SAMPLED, recorded: false },
    { sampler: "traceidratio", ratio: 1, parent: UNSAMPLED, recorded: true },
    { sampler: "always_off", ratio: 1, parent: SAMPLED, recorded: false },
    { sampler: "always_on", ratio: 0, parent: UNSAMPLED, recorded: true },
    { sampler: "parentbased_traceidratio", ratio: 0, parent: SAMPLED, recorded: true },
    { sampler: "parentbased_always_on", ratio: 1, parent: UNSAMPLED, recorded: false },
    { sampler: "parentbased_always_off", ratio: 1, parent: SAMPLED, recorded: true },
    { sampler: "parentbased_always_off", ratio: 1, parent: undefined, recorded: false },
    { sampler: "parentbased_traceidratio", ratio: 1, parent: undefined, recorded: true },
  ] as const)("with $sampler, $ratio and $parent: $recorded", async (given) => {
    const { sampler, ratio, parent, recorded } = given;
    const collector = await collect();
    const { tracer, traces } = open({ endpoint: collector.url, sampler, ratio });
    const { span, traceparent } = tracer.begin("request", parent);
    expect(span !== undefined).toBe(recorded);
    // What is handed on says so, in the caller's trace.
    if (recorded) expect(traceparent).toBe(span?.traceparent);
    else expect(traceparent).toBe(parent === undefined ? undefined : UNSAMPLED);
    if (parent !== undefined) expect(traceparent?.slice(3, 35)).toBe(parent.slice(3, 35));
    const inside = tracer.span("inside", traceparent);
    expect(inside !== undefined).toBe(recorded);
    for (const each of [inside, span]) each?.end();
    await traces.close();
    expect(collector.spans().map(({ name }) => name)).toEqual(
      recorded ? ["inside", "request"] : [],
    );
  });

  it("is decided by chance for each, not by what a caller sends", async () => {
    const collector = await collect();
    const { tracer } = open({ endpoint: collector.url, sampler: "traceidratio", ratio: 0.5 });
    const begun = Array.from({ length: 1_000 }, () => tracer.begin("request", SAMPLED).span);
    const share = begun.filter((span) => span !== undefined).length;
    // Ten standard deviations: once in 10^23.
    expect(share).toBeGreaterThan(340);
    expect(share).toBeLessThan(660);
  });
});

describe("a collector", () => {
  it("gets the headers that the operator has set", async () => {
    const collector = await collect();
    const headers = { "x-collector-key": "secret=1" };
    const { tracer, traces, valueOf } = open({ endpoint: collector.url, headers });
    tracer.begin("request", undefined).span?.end();
    await traces.close();
    expect(collector.requests.map((request) => request.headers["x-collector-key"])).toEqual([
      "secret=1",
    ]);
    expect(await valueOf("tracing_spans_sent_total")).toBe(1);
  });

  it("that refuses loses spans, which are counted, and of which the log tells once", async () => {
    const collector = await collect(() => ({ status: 400 }));
    const { tracer, lines, valueOf } = open({ endpoint: collector.url });
    for (let n = 1; n <= 3; n++) {
      tracer.begin("request", undefined).span?.end();
      await waitFor(
        async () => (await valueOf("tracing_spans_lost_total", { reason: "collector" })) === n,
      );
    }
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
      expect.objectContaining({ msg: "spans were lost", spans: 1, reason: "collector" }),
    ]);
  });

  it("that hangs has a bounded number of spans wait, and holds up neither others nor the end", async () => {
    const collector = await collect(() => new Promise(() => {}));
    const { tracer, traces, valueOf } = open({ endpoint: collector.url });
    const SPANS = 10_000;
    for (let n = 0; n < SPANS; n++) tracer.begin("request", undefined).span?.end();
    await waitFor(() => collector.requests.length > 0);
    for (let n = 0; n < SPANS; n++) tracer.begin("request", undefined).span?.end();
    const dropped = await valueOf("tracing_spans_lost_total", { reason: "queue_full" });
    // 4,096 wait, and a batch of 512 is under way.
    expect(dropped).toBeGreaterThanOrEqual(2 * SPANS - 4_096 - 2 * 512);
    await traces.close();
  });

  it("that is not there changes nothing for who makes spans", async () => {
    const collector = await startOtlpCollector();
    await collector.close();
    const { tracer, traces } = open({ endpoint: collector.url });
    const { span } = tracer.begin("request", undefined);
    span?.end();
    expect(tracer.span("inside", span?.traceparent)).toBeDefined();
    await traces.close();
  });
});

describe("without a collector", () => {
  it("there are no traces", () => {
    const logger = pino({ level: "silent" });
    const settings = {
      endpoint: undefined,
      headers: undefined,
      sampler: "always_on",
      ratio: 1,
    } as const;
    expect(
      openServiceTraces(settings, { logger, metricsRegistry: new Registry() }),
    ).toBeUndefined();
  });
});
