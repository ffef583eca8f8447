import { setTimeout as sleep } from "node:timers/promises";

/**
 * Does something for each number below `count`, `width` at a time, each not before its share of a time.
 *
 * @param withinMs how long all of them are spread over
 */
export async function spread(
  { count, width, withinMs }: { count: number; width: number; withinMs: number },
  action: (index: number) => Promise<void>,
): Promise<void> {
  const startedAt = Date.now();
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      const wait = startedAt + (index * withinMs) / count - Date.now();
      if (wait > 0) await sleep(wait);
      await action(index);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
}

/** Calls again and again, a while apart, until the answer is a 2xx; what is away comes back. */
export async function until2xx(call: () => Promise<{ status: number }>): Promise<void> {
  for (;;) {
    const answer = await call().catch(() => null);
    if (answer !== null && answer.status >= 200 && answer.status <= 299) return;
    // A mistake of the test would be repeated for ever.
    if (answer !== null && answer.status < 500 && answer.status !== 429) {
      throw new Error(`answered ${answer.status}`);
    }
    await sleep(AGAIN_MS);
  }
}

const AGAIN_MS = 100;
