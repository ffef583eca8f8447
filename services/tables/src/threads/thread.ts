import { Worker } from "node:worker_threads";
import { AppError } from "@workflow/errors";
import type { CompanyConnections } from "../company-connections.ts";
import type { RowQuery } from "../domain/row-query.ts";
import type { CacheUsage } from "../memory/cache-events.ts";
import type { SpillPlace } from "../memory/spill-file.ts";
import type { Answered, RowPage } from "../snapshots/index.ts";
import type { ReadingCaller } from "../store/reading-database.ts";
import type { TableHead, TableName } from "../store/states.ts";
import { fromPlainError, toPlainError } from "./protocol.ts";
import type {
  CountedEvents,
  FromThread,
  Question,
  Questions,
  Request,
  ThreadOptions,
  ToThread,
} from "./protocol.ts";
import { Statements } from "./statements.ts";

const PROGRAM = new URL("./table-thread.ts", import.meta.url);

const NOTHING: CacheUsage = { tables: 0, bytes: 0 };

/** The thread has ended before its answer. */
export class ThreadEnded extends Error {}

/** The connections, limits and callbacks of a thread. */
export interface ThreadResources {
  connections: CompanyConnections;
  /** The bytes of memory for columns. */
  cacheBytesMax: number;
  companyBytesMax: number | undefined;
  spill: SpillPlace | undefined;
  /** The MiB that V8 may use for all objects of the thread, which ends when it needs more. */
  heapMb: number;
  onEvents(events: CountedEvents): void;
  /** Called for each error of the disk for columns. */
  onFault(error: Error): void;
  /** Called once when the thread has ended by itself. */
  onLost(cause: Error): void;
}

/** One thread with columns, seen from the thread with the connections. */
export class Thread {
  readonly #worker: Worker;
  readonly #statements: Statements;
  readonly #resources: ThreadResources;
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #pages = new Map<number, (page: RowPage) => void>();
  /** The requests of the thread that are being answered, by their ids. */
  readonly #served = new Map<number, AbortController>();
  #asks = 0;
  #ended: ThreadEnded | null = null;
  #usage = NOTHING;

  constructor(resources: ThreadResources) {
    const { connections, cacheBytesMax, companyBytesMax, spill, heapMb } = resources;
    const workerData: ThreadOptions = { cacheBytesMax, companyBytesMax, spill };
    this.#resources = resources;
    this.#statements = new Statements(connections, (ask, page) => this.#pages.get(ask)?.(page));
    this.#worker = new Worker(PROGRAM, {
      name: "tables",
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    this.#worker.on("message", (message: FromThread) => this.#hear(message));
    this.#worker.on("error", (error) => this.#lose(error));
    this.#worker.on("exit", () => this.#lose(new Error("A thread of data tables has exited.")));
  }

  get hasEnded(): boolean {
    return this.#ended !== null;
  }

  /** The last reported usage. */
  get usage(): CacheUsage {
    return this.#ended === null ? this.#usage : NOTHING;
  }

  /**
   * Asks a question.
   * @throws ThreadEnded, or the reason of the caller's signal when that is aborted first
   */
  async ask<Kind extends keyof Questions>(
    kind: Kind,
    question: Question & { kind: Kind },
    caller?: ReadingCaller,
  ): Promise<Questions[Kind]["answer"]> {
    const { answered } = this.#send(question, caller);
    const answer = await answered;
    if (!isAnswer(kind, answer)) throw new Error("A thread answers what it is asked.");
    return answer;
  }

  /**
   * Returns a page as soon as its rows are read, before the thread hears of that.
   * @throws ThreadEnded, or the reason of the caller's signal when that is aborted first
   */
  async page(head: TableHead, query: RowQuery, caller?: ReadingCaller): Promise<Answered<RowPage>> {
    const read = Promise.withResolvers<RowPage>();
    const { id, answered } = this.#send({ kind: "page", query: { head, query } }, caller);
    this.#pages.set(id, read.resolve);
    const page = read.promise.then((answer) => ({ answer }));
    const verdict = answered.then((answer) => (answer === null ? null : page));
    const forget = (): void => void this.#pages.delete(id);
    verdict.then(forget, forget);
    return Promise.race([page, verdict]);
  }

  /** Tells the thread that the table is gone. */
  invalidate(table: TableName): void {
    this.#post({ type: "forget", table });
  }

  async stop(): Promise<void> {
    this.#end(new ThreadEnded("A thread was told to end."));
    await this.#worker.terminate();
  }

  #send(
    question: Question,
    caller: ReadingCaller | undefined,
  ): { id: number; answered: Promise<unknown> } {
    if (this.#ended !== null) throw this.#ended;
    const signal = caller?.signal;
    signal?.throwIfAborted();
    const id = ++this.#asks;
    const asked = Promise.withResolvers<unknown>();
    this.#asked.set(id, asked);
    this.#post({ type: "ask", id, question });
    const cancel = (): void => {
      this.#take(id)?.reject(signal?.reason);
      this.#post({ type: "cancel", id });
    };
    signal?.addEventListener("abort", cancel, { once: true });
    const forget = (): void => signal?.removeEventListener("abort", cancel);
    asked.promise.then(forget, forget);
    return { id, answered: asked.promise };
  }

  #hear(message: FromThread): void {
    switch (message.type) {
      case "answer":
        this.#take(message.id)?.resolve(message.answer);
        break;
      case "failure":
        this.#take(message.id)?.reject(fromPlainError(message.error));
        break;
      case "request":
        void this.#serve(message.id, message.request);
        break;
      case "withdraw":
        this.#served.get(message.id)?.abort(new AppError("UNAVAILABLE", "The caller has gone."));
        break;
      case "fault":
        this.#resources.onFault(fromPlainError(message.error));
        break;
      case "report":
        this.#usage = message.usage;
        this.#resources.onEvents(message.events);
        break;
    }
  }

  async #serve(id: number, request: Request): Promise<void> {
    const withdrawal = new AbortController();
    const { signal } = withdrawal;
    this.#served.set(id, withdrawal);
    try {
      this.#post({ type: "reply", id, reply: await this.#statements.answer(request, { signal }) });
    } catch (error) {
      if (signal.aborted && error === signal.reason) {
        this.#resources.onEvents([["withdrawn", 1]]);
      }
      this.#post({ type: "failure", id, error: toPlainError(error) });
    } finally {
      this.#served.delete(id);
    }
  }

  #take(id: number): PromiseWithResolvers<unknown> | undefined {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    return asked;
  }

  #post(message: ToThread): void {
    this.#worker.postMessage(message, []);
  }

  #lose(cause: Error): void {
    if (this.#ended !== null) return;
    this.#end(new ThreadEnded("A thread of data tables has ended.", { cause }));
    this.#resources.onLost(cause);
  }

  #end(error: ThreadEnded): void {
    this.#ended = error;
    this.#statements.giveUp();
    for (const { reject } of this.#asked.values()) reject(error);
    this.#asked.clear();
  }
}

/** The thread's own program sends what its types say. */
function isAnswer<Kind extends keyof Questions>(
  _kind: Kind,
  _answer: unknown,
): _answer is Questions[Kind]["answer"] {
  return true;
}
