import type { Claimed } from "./messages.ts";
import { Moments } from "./moments.ts";
import type { Window } from "./window-store.ts";

/** The gateways, and the time. */
export interface ShareOptions {
  readonly gateways: number;
  readonly now: number;
  readonly windowMs: number;
}

/**
 * The first window of which a gateway that decides alone has no share left, -1 when there is none. Its share is what
 * was free when it began to decide alone, divided by the number of gateways: when all of them do so, they
 * let through the limit together.
 */
export function withoutShare(
  claims: readonly Claimed[],
  windows: readonly Window[],
  { gateways, now, windowMs }: ShareOptions,
): number {
  return windows.findIndex((window, index) => {
    const alone = (window.alone ??= beginAlone(window, now));
    alone.dropUntil(now - windowMs);
    const { answered, moments } = window;
    const answeredCount = answered !== null && answered.resetAt > now ? answered.count : 0;
    const free = (claims[index]?.[1] ?? 0) - Math.max(moments.marked, answeredCount);
    return (alone.count + 1) * gateways > free;
  });
}

function beginAlone({ moments }: Window, now: number): Moments {
  moments.mark(now);
  return new Moments();
}
