import type { StartedRuns } from "../store/triggering-events.ts";

/** An event that starts the workflows that wait for it. */
export interface WebhookEvent {
  companyId: string;
  /** Unique among the company's events, whatever their source. */
  id: string;
  /** The key that workflows wait for (`triggerKeyOf`). */
  triggerKey: string;
  /** JSON text: the input of the runs. */
  input: string;
  /** The same, parsed. */
  inputValue: unknown;
  /** JSON text of an object: what templates see as `trigger`. */
  triggerData: string;
  /** The request that brought it; null when none did. */
  requestId: string | null;
  /** The traceparent of its span; null when that is not recorded. */
  traceparent: string | null;
}

/** An event, and the caller who waits for the runs that it starts. */
export interface WaitingEvent {
  event: WebhookEvent;
  /** How many tries have failed. */
  tries: number;
  resolve: (started: StartedRuns) => void;
  reject: (error: unknown) => void;
}

const BATCH_MAX = 100;
const BATCH_CHARS_MAX = 8 * 1024 * 1024;

/** Events that wait to be started, taken in turns between companies (D57). */
export class WaitingEvents {
  /** The company that was served last is at the end. */
  readonly #companies = new Map<string, WaitingEvent[]>();
  #size = 0;

  /** How many events wait. */
  get size(): number {
    return this.#size;
  }

  /** Puts an event behind those of its company. */
  add(waiting: WaitingEvent): void {
    const queue = this.#companies.get(waiting.event.companyId);
    if (queue === undefined) this.#companies.set(waiting.event.companyId, [waiting]);
    else queue.push(waiting);
    this.#size += 1;
  }

  /** Takes one event of each company, then the second of each, and so on; never the same event twice. */
  takeBatch(): WaitingEvent[] {
    const batch: WaitingEvent[] = [];
    const again: WaitingEvent[] = [];
    const taken = new Set<string>();
    let chars = 0;
    while (this.#size > 0 && batch.length < BATCH_MAX && chars < BATCH_CHARS_MAX) {
      const waiting = this.#takeNext();
      if (waiting === undefined) break;
      const { event } = waiting;
      const key = `${event.companyId} ${event.id}`;
      if (taken.has(key)) again.push(waiting);
      else {
        taken.add(key);
        batch.push(waiting);
        chars += event.input.length + event.triggerData.length;
      }
    }
    for (const waiting of again) this.add(waiting);
    return batch;
  }

  #takeNext(): WaitingEvent | undefined {
    const [next] = this.#companies;
    if (next === undefined) return undefined;
    const [companyId, queue] = next;
    const waiting = queue.shift();
    this.#companies.delete(companyId);
    if (queue.length > 0) this.#companies.set(companyId, queue);
    if (waiting !== undefined) this.#size -= 1;
    return waiting;
  }
}
