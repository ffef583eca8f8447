import type { Scope } from "@workflow/async";
import { openServiceTraces, traceSettings } from "@workflow/service";
import type { Tracer } from "@workflow/tracing";
import type { Registry } from "prom-client";
import type { ServiceLog } from "./service-log.ts";
import type { Settings } from "./settings.ts";

/** Creates the tracer of each service. All of them share one exporter. */
export function openTracers(
  settings: Settings,
  log: ServiceLog,
  metricsRegistry: Registry,
  scope: Scope,
): (service: string) => Tracer | undefined {
  const logger = log.loggerOf("traces");
  const traces = openServiceTraces(traceSettings(settings), { logger, metricsRegistry });
  if (traces === undefined) return () => undefined;
  scope.defer(() => traces.close());
  return (service) => traces.tracer(service);
}
