import type { SafeHttpClient } from "@workflow/http-client";
import type { Turns } from "@workflow/service";
import type { Tracer } from "@workflow/tracing";
import type { LaneReading, WaitingDelivery } from "../store/deliveries.ts";
import type { AttemptOutcome } from "./attempt.ts";
import type { EventBodies } from "./event-bodies.ts";
import type { Gathered } from "./gathered.ts";
import type { EndpointReader } from "./open-endpoint.ts";
import type { ResultWriter } from "./result-writer.ts";

/** What all lanes of a process share. */
export interface LaneContext {
  http: SafeHttpClient;
  tracer: Tracer | undefined;
  endpoints: EndpointReader;
  bodies: EventBodies;
  /** Reads what waits in lanes. */
  waiting: Gathered<LaneReading, readonly WaitingDelivery[]>;
  results: ResultWriter;
  /** Places for attempts to receivers that answered last. */
  places: Turns;
  /** Places for attempts to receivers that failed last: they wait for answers among themselves. */
  waryPlaces: Turns;
  /** Bytes of bodies that are being sent. */
  room: Turns;
  retryDelaysMs: readonly number[];
  /** Whether leases are known to be held: nothing begins when they may have ended. */
  isHeld: () => boolean;
  onOutcome: (outcome: AttemptOutcome) => void;
  /** Gives up waiting for places. */
  stopping: AbortSignal;
  /** Breaks attempts off. */
  breakingOff: AbortSignal;
}
