import type { ReadingCaller } from "../store/reading-database.ts";
import type { FromThread, Reply, Request } from "./protocol.ts";

/** The reason for an early end of work for a question. */
export class CallerLeft extends Error {
  constructor() {
    super("The caller has gone.");
  }
}

/** The requests to main that wait for an answer. */
export class Requests {
  readonly #say: (message: FromThread) => void;
  readonly #waiting = new Map<number, PromiseWithResolvers<Reply>>();
  #made = 0;

  constructor(say: (message: FromThread) => void) {
    this.#say = say;
  }

  /**
   * Sends a request to main. When the caller leaves, main is told, and a statement that has not begun fails. The
   * request always waits for its end, so that no statement is under way for finished work.
   * @throws the reason of the caller's signal when that is aborted already, AppError when main fails
   */
  async make(request: Request, caller: ReadingCaller | undefined): Promise<Reply> {
    const signal = caller?.signal;
    signal?.throwIfAborted();
    const id = ++this.#made;
    const reply = Promise.withResolvers<Reply>();
    this.#waiting.set(id, reply);
    this.#say({ type: "request", id, request });
    const withdraw = (): void => this.#say({ type: "withdraw", id });
    signal?.addEventListener("abort", withdraw, { once: true });
    try {
      return await reply.promise;
    } finally {
      signal?.removeEventListener("abort", withdraw);
    }
  }

  /** Removes and returns a request that main has answered. */
  take(id: number): PromiseWithResolvers<Reply> {
    const reply = this.#waiting.get(id);
    if (reply === undefined) throw new Error("A reply that nobody waits for.");
    this.#waiting.delete(id);
    return reply;
  }
}
