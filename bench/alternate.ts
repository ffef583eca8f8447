import type { Load } from "./load-client.ts";
import type { LoadRequest, LoadResult } from "./load-protocol.ts";
import type { Sizes } from "./options.ts";

/** A round of the system and one of its floor, right after each other. */
export interface Pair {
  system: LoadResult;
  floor: LoadResult;
}

export interface AlternateOptions {
  load: Load;
  sizes: Sizes;
  connections: number;
  system: LoadRequest;
  floor: LoadRequest;
  /** Waits for what a measurement has left to be done, which would burden the next one. */
  settle?: () => Promise<void>;
}

/**
 * Measures the system and its floor in turn, each first every other time: what slows the machine
 * down for a while then hits both alike, and the ratio stays.
 */
export async function alternate(options: AlternateOptions): Promise<Pair[]> {
  const { load, sizes, connections, settle } = options;
  const measure = async (request: LoadRequest, afterMs: number): Promise<LoadResult> => {
    const result = await load({ model: "closed", request, connections, stop: { afterMs } });
    await settle?.();
    return result;
  };
  await measure(options.floor, sizes.warmUpMs);
  await measure(options.system, sizes.warmUpMs);
  const pairs: Pair[] = [];
  for (let round = 0; round < sizes.rounds; round += 1) {
    if (round % 2 === 0) {
      const floor = await measure(options.floor, sizes.roundMs);
      pairs.push({ floor, system: await measure(options.system, sizes.roundMs) });
    } else {
      const system = await measure(options.system, sizes.roundMs);
      pairs.push({ system, floor: await measure(options.floor, sizes.roundMs) });
    }
  }
  return pairs;
}

/** A pair as a row of the report. */
export function pairRow({ system, floor }: Pair): Record<string, number> {
  return {
    "system /s": system.perSecond,
    "floor /s": floor.perSecond,
    "system ÷ floor": system.perSecond / floor.perSecond,
    "system p50 ms": system.p50Ms,
    "system p99 ms": system.p99Ms,
    "floor p50 ms": floor.p50Ms,
    "floor p99 ms": floor.p99Ms,
  };
}
