import type { Clock } from "./clock.ts";
import type { Members, Responsible } from "./members.ts";
import type { Batch } from "./messages.ts";
import type { Sources } from "./sources.ts";
import type { Window, WindowStore } from "./window-store.ts";

export interface HandOverOptions {
  windowMs: number;
  clock: Clock;
  members: Members;
  sources: Sources;
  store: WindowStore;
  tell: (to: string, known: Batch["told"][number]) => void;
}

/** So many entries are read, or windows visited, before requests have their turn again. */
const ENTRIES_MAX = 2_000;
const WINDOWS_MAX = 500;

/** Tells newly responsible gateways what this one knows of their windows. */
export class HandOver {
  readonly #options: HandOverOptions;
  #left: Window[] = [];
  #sweep: PromiseWithResolvers<void> | null = null;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /** The gateways that are responsible for a window now. */
  responsibleFor(window: Window): Responsible {
    const { members } = this.#options;
    const { epoch } = members;
    if (window.responsible?.epoch === epoch) return window.responsible.who;
    const who = members.responsibleFor(window.groupHash);
    const before = window.responsible?.who;
    const isSame = before?.home === who.home && before.deputy === who.deputy;
    window.responsible = { epoch, who: isSame ? before : who };
    return window.responsible.who;
  }

  /** Tells of all windows, bit by bit. Settles when all is told. */
  tellAll(): Promise<void> {
    this.#left = [...this.#options.store.all()];
    if (this.#sweep !== null) return this.#sweep.promise;
    this.#sweep = Promise.withResolvers<void>();
    const { promise } = this.#sweep;
    this.#tellSome();
    return promise;
  }

  /**
   * Tells those who are responsible for a window and do not know it yet. Returns how many entries were read.
   */
  tell(window: Window): number {
    const { members, clock, windowMs } = this.#options;
    const { era } = members;
    const who = this.responsibleFor(window);
    const { told, moments } = window;
    if (told?.era === era && told.who === who) return 0;
    window.told = { era, who };
    moments.dropUntil(clock.now() - windowMs);
    if (moments.count === 0) return 0;
    const before = told?.era === era ? [told.who.home, told.who.deputy] : [];
    const after = [who.home, who.deputy].filter(
      (address): address is string =>
        address !== null && address !== members.self && !before.includes(address),
    );
    if (after.length === 0) return 0;
    this.#tellThem(after, window);
    return moments.entries;
  }

  #tellThem(addresses: readonly string[], { key, moments }: Window): void {
    const { clock, sources, tell } = this.#options;
    for (const [number, ages] of moments.agesAt(clock.now())) {
      const source = sources.nameOf(number);
      if (source === undefined) continue;
      for (const address of addresses) if (source !== address) tell(address, [key, source, ages]);
    }
  }

  #tellSome(): void {
    let entries = 0;
    for (let turn = 0; turn < WINDOWS_MAX && entries < ENTRIES_MAX; turn += 1) {
      const window = this.#left.pop();
      if (window === undefined) break;
      entries += this.tell(window);
    }
    if (this.#left.length > 0) {
      this.#options.clock.soon(() => this.#tellSome());
      return;
    }
    this.#sweep?.resolve();
    this.#sweep = null;
  }
}
