import { cpuTimeMs } from "./cpu-time.ts";
import type { Load } from "./load-client.ts";
import type { LoadRequest, LoadResult } from "./load-protocol.ts";
import type { Sizes } from "./options.ts";
import type { Outcome } from "./scenario.ts";

/** A request, and the process that answers it. */
export interface Target {
  pid: number;
  request: LoadRequest;
  /** Requests that replace `request`, see `LoadJob`. */
  variety?: LoadRequest[];
}

export interface AlternateOptions {
  load: Load;
  sizes: Sizes;
  connections: number;
  system: Target;
  floor: Target;
  /** Waits for work that a measurement has left, which would burden the next measurement. */
  settle?: () => Promise<void>;
}

interface Measured extends LoadResult {
  /** Processor time of the process for each answer, with its work after the answers. */
  cpuUs: number;
}

/** A round of the system and one of its floor, right after each other. */
export interface Pair {
  system: Measured;
  floor: Measured;
}

/**
 * Measures the system and its floor in turn; each of them goes first every other time. A slow spell of the machine
 * then hits both alike, and their ratio stays.
 */
export async function alternate(options: AlternateOptions): Promise<Pair[]> {
  const { sizes, system, floor } = options;
  await measure(floor, sizes.warmUpMs, options);
  await measure(system, sizes.warmUpMs, options);
  const pairs: Pair[] = [];
  for (let round = 0; round < sizes.pairs; round += 1) {
    const systemFirst = round % 2 === 1;
    const first = await measure(systemFirst ? system : floor, sizes.pairRoundMs, options);
    const second = await measure(systemFirst ? floor : system, sizes.pairRoundMs, options);
    pairs.push(systemFirst ? { system: first, floor: second } : { system: second, floor: first });
  }
  return pairs;
}

async function measure(
  { pid, request, variety }: Target,
  afterMs: number,
  { load, connections, settle }: AlternateOptions,
): Promise<Measured> {
  const cpuBefore = cpuTimeMs(pid);
  const result = await load({
    model: "closed",
    request,
    ...(variety === undefined ? {} : { variety }),
    connections,
    stop: { afterMs },
  });
  await settle?.();
  const cpuUs = ((cpuTimeMs(pid) - cpuBefore) * 1000) / result.succeeded;
  return { ...result, cpuUs };
}

/** The pairs as rows of the report. */
export function pairRows(pairs: readonly Pair[]): Outcome["rounds"] {
  return pairs.map(({ system, floor }) => ({
    "system /s": system.perSecond,
    "floor /s": floor.perSecond,
    "system ÷ floor": system.perSecond / floor.perSecond,
    "system p50 ms": system.p50Ms,
    "floor p50 ms": floor.p50Ms,
    "system p99 ms": system.p99Ms,
    "floor p99 ms": floor.p99Ms,
    "system CPU µs": system.cpuUs,
    "floor CPU µs": floor.cpuUs,
  }));
}
