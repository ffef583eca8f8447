import type { Batcher, Turns } from "@workflow/async";
import type { SafeHttpClient } from "@workflow/http-client";
import type { Tracer } from "@workflow/tracing";
import type { LaneReading, WaitingDelivery } from "../store/deliveries.ts";
import type { AttemptOutcome } from "./attempt.ts";
import type { EventBodies } from "./event-bodies.ts";
import type { EndpointReader } from "./open-endpoint.ts";
import type { ResultWriter } from "./result-writer.ts";

/** What all lanes of a process share. */
export interface LaneContext {
  http: SafeHttpClient;
  tracer: Tracer | undefined;
  endpoints: EndpointReader;
  bodies: EventBodies;
  /** Reads the waiting deliveries of lanes. */
  waiting: Batcher<LaneReading, readonly WaitingDelivery[]>;
  results: ResultWriter;
  /** The limit on attempts to receivers that answered last. */
  places: Turns;
  /** The limit on attempts to receivers that failed last. They wait only for each other. */
  waryPlaces: Turns;
  /** Bounds the bytes of bodies that are being sent. */
  room: Turns;
  retryDelaysMs: readonly number[];
  /** Whether leases are known to be held. When they may have ended nothing begins. */
  holdsLeases: () => boolean;
  onOutcome: (outcome: AttemptOutcome) => void;
  /** Aborts waiting for turns. */
  stopping: AbortSignal;
  /** Aborts attempts. */
  breakingOff: AbortSignal;
}
