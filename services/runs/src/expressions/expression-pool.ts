import { Worker } from "node:worker_threads";
import type { ExpressionRequest, ExpressionResponse } from "./protocol.ts";

/** Evaluates JSONata expressions outside of the main thread, within limits of time and memory. */
export interface ExpressionPool {
  /**
   * @param input the input document as JSON text
   * @returns the result as JSON text
   * @throws ExpressionError
   */
  evaluate(expression: string, input: string, signal?: AbortSignal): Promise<string>;
  /** Ends the threads; what is not evaluated yet is rejected. */
  close(): Promise<void>;
}

/** Why an expression gave no result. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The pool's limits. */
export interface ExpressionPoolOptions {
  threads?: number;
  /** Longest evaluation of one expression, in milliseconds. */
  timeoutMs?: number;
  /** Heap of one thread, in MiB. */
  memoryMiB?: number;
  outputCharsMax?: number;
}

interface Job {
  request: ExpressionRequest;
  resolve: (output: string) => void;
  reject: (error: Error) => void;
  done: boolean;
}

interface Thread {
  worker: Worker;
  /** Sent and not answered yet, in order; the first is being evaluated. */
  jobs: Job[];
  timer: NodeJS.Timeout | undefined;
}

/**
 * Requests sent to a thread at a time: enough that a busy main thread does not starve it, and few
 * enough that those behind a hostile expression are soon repeated elsewhere.
 */
const BATCH_MAX = 16;

/** Opens a pool; its threads start when they are needed. */
export function createExpressionPool(options: ExpressionPoolOptions = {}): ExpressionPool {
  const { threads: threadsMax = 3, timeoutMs = 2_000, memoryMiB = 96 } = options;
  const outputCharsMax = options.outputCharsMax ?? 4 * 1024 * 1024;
  const queue: Job[] = [];
  const threads = new Set<Thread>();
  let nextId = 1;
  let pumping = false;
  let closed = false;

  const startThread = (): Thread => {
    const worker = new Worker(new URL("./expression-thread.ts", import.meta.url), {
      env: {},
      resourceLimits: {
        maxOldGenerationSizeMb: memoryMiB,
        maxYoungGenerationSizeMb: 16,
        stackSizeMb: 4,
      },
    });
    const thread: Thread = { worker, jobs: [], timer: undefined };
    worker.on("message", (response: ExpressionResponse) => settle(thread, response));
    worker.on("error", (error: Error) => {
      const outOfMemory = "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
      abandon(
        thread,
        outOfMemory
          ? new ExpressionError(
              "EXPRESSION_MEMORY",
              `The expression needed more than ${memoryMiB} MiB.`,
            )
          : new ExpressionError("EXPRESSION_FAILED", "The expression could not be evaluated."),
      );
    });
    worker.unref();
    threads.add(thread);
    return thread;
  };

  const watch = (thread: Thread): void => {
    clearTimeout(thread.timer);
    const [current] = thread.jobs;
    if (current === undefined) return;
    thread.timer = setTimeout(() => {
      // Answers that came while this thread was busy are heard first.
      setImmediate(() => {
        if (thread.jobs[0] !== current) return;
        const message = `The expression took longer than ${timeoutMs} ms.`;
        abandon(thread, new ExpressionError("EXPRESSION_TIMEOUT", message));
      });
    }, timeoutMs);
  };

  const settle = (thread: Thread, response: ExpressionResponse): void => {
    const job = thread.jobs.shift();
    if (job === undefined || job.request.id !== response.id) return;
    watch(thread);
    job.done = true;
    if (response.ok) job.resolve(response.output);
    else job.reject(new ExpressionError(response.code, response.message));
    if (thread.jobs.length === 0) pump();
  };

  /** Ends a thread: its first job has failed, the others are evaluated elsewhere. */
  const abandon = (thread: Thread, error: ExpressionError): void => {
    if (!threads.delete(thread)) return;
    clearTimeout(thread.timer);
    void thread.worker.terminate();
    const [first, ...others] = thread.jobs.splice(0);
    queue.unshift(...others);
    if (first !== undefined) {
      first.done = true;
      first.reject(error);
    }
    pump();
  };

  /** Runs once per turn of the event loop, so that requests made together travel together. */
  const pump = (): void => {
    if (pumping) return;
    pumping = true;
    setImmediate(() => {
      pumping = false;
      while (queue.length > 0) {
        const thread =
          [...threads].find((candidate) => candidate.jobs.length === 0) ??
          (threads.size < threadsMax ? startThread() : undefined);
        if (thread === undefined) return;
        // Spread over the threads that may be had, so that a slow one holds up little.
        const share = Math.min(BATCH_MAX, Math.ceil(queue.length / threadsMax));
        thread.jobs = queue.splice(0, share).filter((job) => !job.done);
        if (thread.jobs.length === 0) continue;
        thread.worker.postMessage(thread.jobs.map((job) => job.request));
        watch(thread);
      }
    });
  };

  return {
    evaluate(expression, input, signal) {
      return new Promise((resolve, reject) => {
        if (closed || signal?.aborted === true) {
          reject(givenUp());
          return;
        }
        const job: Job = {
          request: { id: nextId++, expression, input, outputCharsMax },
          resolve: (output) => {
            release();
            resolve(output);
          },
          reject: (error) => {
            release();
            reject(error);
          },
          done: false,
        };
        const onAbort = (): void => {
          job.done = true;
          reject(givenUp());
        };
        const release = (): void => signal?.removeEventListener("abort", onAbort);
        signal?.addEventListener("abort", onAbort, { once: true });
        queue.push(job);
        pump();
      });
    },
    async close() {
      closed = true;
      const unanswered = [...threads].flatMap((thread) => thread.jobs.splice(0));
      for (const job of [...unanswered, ...queue.splice(0)]) if (!job.done) job.reject(givenUp());
      await Promise.all(
        [...threads].map((thread) => {
          clearTimeout(thread.timer);
          return thread.worker.terminate();
        }),
      );
      threads.clear();
    },
  };
}

function givenUp(): ExpressionError {
  return new ExpressionError("ABORTED", "The evaluation was given up.");
}
