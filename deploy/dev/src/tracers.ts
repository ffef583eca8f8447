import type { Scope } from "@workflow/async";
import { openServiceTraces, traceSettings } from "@workflow/service";
import type { Tracer } from "@workflow/tracing";
import type { Registry } from "prom-client";
import type { ServiceLog } from "./service-log.ts";
import type { Settings } from "./settings.ts";

/** What makes the spans of each service; all go to the collector by one way. */
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
