import type { Batcher, Turns } from "@workflow/async";
import type { SafeHttpClient } from "@workflow/http-client";
import type { Tracer } from "@workflow/tracing";
import type { LaneReading, WaitingDelivery } from "../store/deliveries.ts";
import type { AttemptOutcome } from "./attempt.ts";
import type { EventBodies } from "./event-bodies.ts";
import type { EndpointReader } from "./open-endpoint.ts";
import type { ResultWriter } from "./result-writer.ts";

/** The dependencies that all lanes of a process share. */
export interface LaneContext {
  http: SafeHttpClient;
  tracer: Tracer | undefined;
  endpoints: EndpointReader;
  bodies: EventBodies;
  /** Reads the waiting deliveries of lanes. */
  waiting: Batcher<LaneReading, readonly WaitingDelivery[]>;
  results: ResultWriter;
  /** The limit of attempts to receivers whose last attempt succeeded. */
  places: Turns;
  /** The limit of attempts to receivers whose last attempt failed. They wait only for each other. */
  waryPlaces: Turns;
  /** Limits the bytes of bodies that are being sent. */
  room: Turns;
  retryDelaysMs: readonly number[];
  /** Whether leases are known to be held. Otherwise no attempt begins. */
  holdsLeases: () => boolean;
  onOutcome: (outcome: AttemptOutcome) => void;
  /** Aborts the waits for turns. */
  stopping: AbortSignal;
  /** Aborts running attempts. */
  breakingOff: AbortSignal;
}
