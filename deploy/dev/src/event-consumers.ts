import { EVENT_CONSUMERS as GATEWAY } from "@workflow/service-gateway";
import { EVENT_CONSUMERS as INTEGRATIONS } from "@workflow/service-integrations";
import { EVENT_CONSUMERS as RUNS } from "@workflow/service-runs";
import { EVENT_CONSUMERS as WEBHOOKS } from "@workflow/service-webhooks";

/** Every stream of events, with the consumers that have to get all of its events. */
export const EVENT_STREAMS: Readonly<Record<string, readonly string[]>> = merge([
  GATEWAY,
  INTEGRATIONS,
  RUNS,
  WEBHOOKS,
]);

function merge(all: readonly Readonly<Record<string, readonly string[]>>[]) {
  const streams: Record<string, string[]> = {};
  for (const [stream, consumers] of all.flatMap((each) => Object.entries(each))) {
    streams[stream] = [...(streams[stream] ?? []), ...consumers];
  }
  return streams;
}
