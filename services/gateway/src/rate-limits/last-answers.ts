import type { Claimed, Outcome } from "./messages.ts";
import type { Window } from "./window-store.ts";

/**
 * The share of a limit that all asking gateways together may let through before the home has answered. This is half
 * of the tolerance, so a busy caller does not wait for the network.
 */
const AHEAD_SHARE = 0.01;
/**
 * The age up to which an answer is good enough for headers. They may lag by what others let through.
 */
const FRESH_MS = 1_000;

/** Notes a home's answer to a claim. */
export function heed(
  [refusedBy, retryAfterMs, count, resetMs]: Outcome,
  claims: readonly Claimed[],
  windows: readonly Window[],
  now: number,
): void {
  const [first] = windows;
  if (first !== undefined) first.answered = { at: now, count, resetAt: now + resetMs };
  const full = windows[refusedBy];
  if (full === undefined) return;
  full.fullUntil = now + retryAfterMs;
  full.fullMax = claims[refusedBy]?.[1] ?? 0;
}

/**
 * What a home will surely answer. Null when the caller has to wait, because requests under way could pass the limit
 * by more than a hundredth.
 * @param askers how many gateways ask the home
 */
export function foresee(
  claims: readonly Claimed[],
  windows: readonly Window[],
  askers: number,
  now: number,
): Outcome | null {
  const [first] = windows;
  const answered = first?.answered ?? null;
  if (first === undefined || answered === null || now - answered.at > FRESH_MS) return null;
  const hasAllowance = ({ unanswered }: Window, index: number): boolean =>
    unanswered < Math.floor(((claims[index]?.[1] ?? 0) * AHEAD_SHARE) / askers);
  const count = answered.count + first.unanswered + 1;
  if (count > (claims[0]?.[1] ?? 0) || !windows.every(hasAllowance)) return null;
  return [-1, 0, count, Math.max(0, Math.ceil(answered.resetAt - now))];
}

/**
 * The refusal of a full window holds until a place is free, so nobody asks its home before. Null when there may be
 * room.
 */
export function knownRefusal(
  claims: readonly Claimed[],
  windows: readonly Window[],
  { now, windowMs }: { readonly now: number; readonly windowMs: number },
): Outcome | null {
  for (const [index, { fullUntil, fullMax }] of windows.entries()) {
    const max = claims[index]?.[1] ?? 0;
    if (fullUntil <= now || max > fullMax) continue;
    const waitMs = Math.ceil(fullUntil - now);
    if (index === 0) return [index, waitMs, max, waitMs];
    return [index, waitMs, ...firstKnown(windows, now, windowMs)];
  }
  return null;
}

/**
 * The count of the caller's own window, and when its oldest moment leaves. The home's answer is used where there is
 * one.
 */
function firstKnown(
  [first]: readonly Window[],
  now: number,
  windowMs: number,
): [count: number, resetMs: number] {
  const { answered = null, moments } = first ?? {};
  const known = moments?.count ?? 0;
  const isLater = answered !== null && answered.resetAt > now && answered.count > known;
  if (isLater) return [answered.count, Math.ceil(answered.resetAt - now)];
  const oldest = known === 0 ? now : (moments?.oldest(1) ?? now);
  return [known, Math.min(windowMs, Math.ceil(oldest + windowMs - now))];
}
