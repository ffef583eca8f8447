import { connectivityState as State } from "@grpc/grpc-js";
import type { Client } from "@grpc/grpc-js";

/** Enough for a process that is started again, little for a caller who would be refused in the end. */
const REPLACEMENT_MS = 5_000;

/**
 * Lets calls wait while the last replica of a service is being replaced. Callers of a service that
 * has been away for longer, or that never was there, are refused at once.
 */
export class Replacement {
  readonly #client: Client;
  /** When the last connection was lost, by `performance.now()`. */
  #lostAt = Number.NEGATIVE_INFINITY;

  constructor(client: Client) {
    this.#client = client;
    this.#follow(this.#state);
  }

  /**
   * Undefined when a call may be made now. The promise resolves when there is a connection, when
   * the time for one has passed, or when the call itself is over. Never rejects.
   *
   * @param deadline of the call, in milliseconds since the epoch
   */
  wait(deadline: number, signal: AbortSignal | undefined): Promise<void> | undefined {
    if (this.#state === State.READY) return undefined;
    const leftMs = this.#lostAt + REPLACEMENT_MS - performance.now();
    if (leftMs <= 0) return undefined;
    return new Promise((resolve) => {
      const go = (): void => {
        signal?.removeEventListener("abort", go);
        resolve();
      };
      signal?.addEventListener("abort", go, { once: true });
      this.#client.waitForReady(Math.min(deadline, Date.now() + leftMs), go);
    });
  }

  get #state(): State {
    return this.#client.getChannel().getConnectivityState(false);
  }

  /** Notes each loss of the last connection, until the client is closed. */
  #follow(state: State): void {
    if (state === State.SHUTDOWN) return;
    this.#client.getChannel().watchConnectivityState(state, Infinity, () => {
      if (state === State.READY) this.#lostAt = performance.now();
      this.#follow(this.#state);
    });
  }
}
