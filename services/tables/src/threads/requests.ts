import type { ReadingCaller } from "../store/reading-database.ts";
import type { FromThread, Reply, Request } from "./protocol.ts";

/** Why work for a question ends early. */
export class CallerLeft extends Error {
  constructor() {
    super("The caller has gone.");
  }
}

/** What a thread has asked of main, and waits for. */
export class Requests {
  readonly #say: (message: FromThread) => void;
  readonly #waiting = new Map<number, PromiseWithResolvers<Reply>>();
  #made = 0;

  constructor(say: (message: FromThread) => void) {
    this.#say = say;
  }

  /**
   * Asks main for something. When the caller goes meanwhile, main hears of that, and what it has not begun
   * fails. The end is waited for in any case, so nothing is under way for work that is over.
   *
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

  /** The request that main has answered, which is over by that. */
  take(id: number): PromiseWithResolvers<Reply> {
    const reply = this.#waiting.get(id);
    if (reply === undefined) throw new Error("A reply that nobody waits for.");
    this.#waiting.delete(id);
    return reply;
  }
}
