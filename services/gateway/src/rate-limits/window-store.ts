import { hashText } from "@workflow/rpc";
import { LRUCache } from "lru-cache";
import type { Responsible } from "./members.ts";
import { Moments } from "./moments.ts";

/** The last answer of a window's home. */
interface LastAnswer {
  readonly at: number;
  readonly count: number;
  /** When the window's oldest moment leaves. */
  readonly resetAt: number;
}

/** What was let through under one limit, as far as this gateway knows. */
export interface Window {
  readonly key: string;
  /** Windows with the same group have the same home. */
  readonly groupHash: number;
  readonly moments: Moments;
  /** The responsible gateways, worked out in this epoch of the membership. */
  responsible: { readonly epoch: number; readonly who: Responsible } | null;
  /** The gateways that were told last, and in which era of the membership. */
  told: { readonly era: number; readonly who: Responsible } | null;
  /** The home has said that the window is full until then, under a limit of `fullMax` or less. */
  fullUntil: number;
  fullMax: number;
  /** The last answer of its home, when that is another gateway. */
  answered: LastAnswer | null;
  /** How many requests were let through before the home has answered. */
  unanswered: number;
  /** When the window was last used. */
  usedAt: number;
  /** The capacity on which its size was last reckoned. */
  reckoned: number;
}

/** The group of a window is the part of its key before the first of these. */
export const GROUP_END = "|";
/** The prefix of keys of clients without a credential. */
export const CLIENT_PREFIX = "client:";

/**
 * Bytes for windows of callers, and of strangers. A flood from ever new addresses therefore displaces no caller's
 * window. The least recently used windows are forgotten first.
 */
const BYTES_MAX = { callers: 128 * 1024 * 1024, clients: 32 * 1024 * 1024 };
/** Measured with 100,000 windows: an entry of a moment, and the rest of a window. */
const ENTRY_BYTES = 16;
const WINDOW_BYTES = 960;

/** The windows that a gateway knows, within bounds of memory. */
export class WindowStore {
  readonly #callers = createCache(BYTES_MAX.callers);
  readonly #clients = createCache(BYTES_MAX.clients);
  readonly #windowMs: number;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** The window of a key, created when it is missing. */
  open(key: string, now: number): Window {
    const cache = key.startsWith(CLIENT_PREFIX) ? this.#clients : this.#callers;
    const known = cache.get(key);
    if (known !== undefined) {
      known.usedAt = now;
      known.moments.dropUntil(now - this.#windowMs);
      if (known.moments.capacity !== known.reckoned) reckon(cache, known);
      return known;
    }
    this.#dropIdle(cache, now);
    const window = createWindow(key, now);
    reckon(cache, window);
    return window;
  }

  /** All windows in which something was counted. */
  *all(): Generator<Window> {
    for (const cache of [this.#callers, this.#clients]) yield* cache.values();
  }

  /**
   * Visits two old windows for each new one. Unused windows are dropped that way, and no request waits for it.
   */
  #dropIdle(cache: LRUCache<string, Window>, now: number): void {
    for (let turn = 0; turn < 2; turn += 1) {
      const [oldest] = cache.rvalues();
      if (oldest === undefined) return;
      const usedAt = Math.max(oldest.usedAt, oldest.moments.latest);
      if (usedAt > now - this.#windowMs) return;
      cache.delete(oldest.key);
    }
  }
}

function createCache(bytesMax: number): LRUCache<string, Window> {
  return new LRUCache({
    maxSize: bytesMax,
    sizeCalculation: ({ reckoned }) => WINDOW_BYTES + reckoned * ENTRY_BYTES,
  });
}

function reckon(cache: LRUCache<string, Window>, window: Window): void {
  window.reckoned = window.moments.capacity;
  cache.delete(window.key);
  cache.set(window.key, window);
}

function createWindow(key: string, usedAt: number): Window {
  return {
    key,
    groupHash: hashText(key.slice(0, key.indexOf(GROUP_END))),
    moments: new Moments(),
    responsible: null,
    told: null,
    fullUntil: 0,
    fullMax: 0,
    answered: null,
    unanswered: 0,
    usedAt,
    reckoned: 0,
  };
}
