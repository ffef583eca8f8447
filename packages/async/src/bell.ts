import { TIMER_MS_MAX } from "./timer.ts";

/** A wake-up signal for one sleeper. A ring while nobody sleeps is remembered, once. */
export class Bell {
  #hasRung = false;
  #wakeSleeper: (() => void) | undefined;

  /** Ends the current sleep, or else the next one. */
  ring(): void {
    this.#hasRung = true;
    this.#wakeSleeper?.();
  }

  /** Forgets a remembered ring. */
  silence(): void {
    this.#hasRung = false;
  }

  /** Waits for a ring, for at most so many milliseconds, or until the signal is aborted. Never rejects. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#hasRung && !signal.aborted) await this.#sleep(ms, signal);
    this.#hasRung = false;
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        this.#wakeSleeper = undefined;
        resolve();
      };
      const timer = setTimeout(end, Math.min(ms, TIMER_MS_MAX));
      signal.addEventListener("abort", end, { once: true });
      this.#wakeSleeper = end;
    });
  }
}
