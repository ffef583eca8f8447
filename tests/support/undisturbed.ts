/** A gateway that is silent for longer counts as gone, and has to learn everything anew. */
const STILL_MS = 1_000;
const TICK_MS = 50;
const ROUNDS_MAX = 4;
/** The message of a gateway that decided without the others. */
const ALONE = /counts for rate limits by itself|do not answer/;
const SILENCE = /was silent for too long/;

export interface Watched {
  /** The messages of this process's gateways, which are emptied before each round. */
  readonly logLines: string[];
  /** How often gateways miss each other in a round because the test kills or stops one. */
  readonly missed?: number;
}

/**
 * Plays a round whose outcome is certain only while the machine lets everybody go on. A failure counts when this
 * process did not stand still, and no gateway said that it was alone; otherwise there is another round, up to four
 * in all. Each disturbance is written to the standard error, which shows a test that is always disturbed.
 */
export async function whenUndisturbed(round: () => Promise<void>, watched: Watched): Promise<void> {
  for (let number = 1; ; number += 1) {
    watched.logLines.length = 0;
    const stillness = watchStillness();
    try {
      await round();
      say(number, disturbance(watched, stillness.end()), "passed");
      return;
    } catch (error) {
      const disturbedBy = disturbance(watched, stillness.end());
      say(number, disturbedBy, "failed");
      if (disturbedBy === null || number === ROUNDS_MAX) throw error;
    }
  }
}

/** The disturbance that kept a round from being certain, or null. */
function disturbance({ logLines, missed = 0 }: Watched, stillMs: number): string | null {
  if (stillMs >= STILL_MS) return `this process stood still for ${Math.round(stillMs)} ms`;
  const alone = logLines.find((line) => ALONE.test(line));
  if (alone !== undefined) return alone.trim();
  const silences = logLines.filter((line) => SILENCE.test(line)).length;
  return silences > missed ? `${silences} gateways were missed, not ${missed}` : null;
}

function say(number: number, disturbedBy: string | null, outcome: "passed" | "failed"): void {
  if (disturbedBy === null) return;
  process.stderr.write(`Round ${number} of a limiter test ${outcome}, disturbed: ${disturbedBy}\n`);
}

/** Measures the longest time for which this process does nothing. */
function watchStillness(): { end: () => number } {
  let [tickedAt, longestMs] = [performance.now(), 0];
  const tick = (): void => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - tickedAt);
    tickedAt = now;
  };
  const timer = setInterval(tick, TICK_MS);
  return {
    end() {
      clearInterval(timer);
      tick();
      return longestMs;
    },
  };
}
