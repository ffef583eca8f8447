import type { ExpressionRequest, ExpressionResponse } from "./protocol.ts";
import { startEvaluator } from "./start-evaluator.ts";
import type { Evaluator } from "./start-evaluator.ts";

/** Evaluates JSONata expressions in processes of their own, within limits of time and memory. */
export interface ExpressionPool {
  /**
   * @param input the input document as JSON text
   * @returns the result as JSON text
   * @throws ExpressionError
   */
  evaluate(expression: string, input: string, signal?: AbortSignal): Promise<string>;
  /** Ends the processes; what is not evaluated yet is rejected. */
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
  processes?: number;
  /** Longest evaluation of one expression, in milliseconds. */
  timeoutMs?: number;
  /** Heap of one process, in MiB. */
  memoryMiB?: number;
  outputCharsMax?: number;
}

interface Job {
  request: ExpressionRequest;
  resolve: (output: string) => void;
  reject: (error: Error) => void;
  done: boolean;
}

interface Member {
  evaluator: Evaluator;
  /** Whether it has answered before: the first answer includes its start. */
  warm: boolean;
  /** Sent and not answered yet, in order; the first is being evaluated. */
  jobs: Job[];
  timer: NodeJS.Timeout | undefined;
}

/**
 * Requests sent to a process at a time: enough that a busy main thread does not starve it, and few
 * enough that those behind a hostile expression are soon repeated elsewhere. With the main thread
 * busy in slices of 4 ms, 100 callers get 5,600 evaluations/s with 16 and 480 with one (idle: 19,000
 * and 5,000; 64 is no better than 16); two cores, three processes, an expression of a sum.
 */
const BATCH_MAX = 16;
/** What a process may take to start, on a machine under load. */
const START_MS_MAX = 10_000;

/** Opens a pool; its processes start when they are needed. */
export function createExpressionPool(options: ExpressionPoolOptions = {}): ExpressionPool {
  const { processes: membersMax = 3, timeoutMs = 2_000, memoryMiB = 96 } = options;
  const outputCharsMax = options.outputCharsMax ?? 4 * 1024 * 1024;
  const queue: Job[] = [];
  const members = new Set<Member>();
  let nextId = 1;
  let pumping = false;
  let closed = false;

  const startMember = (): Member => {
    const evaluator = startEvaluator(memoryMiB, {
      onResponse: (response) => settle(member, response),
      onOutOfMemory: () => {
        const message = `The expression needed more than ${memoryMiB} MiB.`;
        abandon(member, new ExpressionError("EXPRESSION_MEMORY", message));
      },
      onFailure: (error) => abandon(member, error),
    });
    const member: Member = { evaluator, warm: false, jobs: [], timer: undefined };
    members.add(member);
    return member;
  };

  const watch = (member: Member): void => {
    clearTimeout(member.timer);
    const [current] = member.jobs;
    if (current === undefined) return;
    const limitMs = timeoutMs + (member.warm ? 0 : START_MS_MAX);
    member.timer = setTimeout(() => {
      // Answers that came while this thread was busy are heard first.
      setImmediate(() => {
        if (member.jobs[0] !== current) return;
        const message = `The expression took longer than ${timeoutMs} ms.`;
        abandon(member, new ExpressionError("EXPRESSION_TIMEOUT", message));
      });
    }, limitMs);
  };

  const settle = (member: Member, response: ExpressionResponse | "ready"): void => {
    member.warm = true;
    if (response !== "ready") {
      const job = member.jobs.shift();
      if (job === undefined || job.request.id !== response.id) return;
      job.done = true;
      if (response.ok) job.resolve(response.output);
      else job.reject(new ExpressionError(response.code, response.message));
    }
    watch(member);
    if (member.jobs.length === 0) pump();
  };

  /** Ends a process: its first job has failed, the others are evaluated elsewhere. */
  const abandon = (member: Member, error: Error): void => {
    if (!members.delete(member)) return;
    clearTimeout(member.timer);
    void member.evaluator.kill();
    const [first, ...others] = member.jobs.splice(0);
    queue.unshift(...others);
    if (first !== undefined) {
      first.done = true;
      first.reject(error);
    }
    pump();
  };

  /** Runs once per turn of the event loop, so that requests made together travel together. */
  const pump = (): void => {
    if (pumping || closed) return;
    pumping = true;
    setImmediate(() => {
      pumping = false;
      while (queue.length > 0) {
        const member =
          [...members].find((candidate) => candidate.jobs.length === 0) ??
          (members.size < membersMax ? startMember() : undefined);
        if (member === undefined) return;
        // Spread over the processes that may be had, so that a slow one holds up little.
        const share = Math.min(BATCH_MAX, Math.ceil(queue.length / membersMax));
        member.jobs = queue.splice(0, share).filter((job) => !job.done);
        if (member.jobs.length === 0) continue;
        member.evaluator.send(member.jobs.map((job) => job.request));
        watch(member);
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
        const onAbort = (): void => {
          job.done = true;
          reject(givenUp());
        };
        const release = (): void => signal?.removeEventListener("abort", onAbort);
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
        signal?.addEventListener("abort", onAbort, { once: true });
        queue.push(job);
        pump();
      });
    },
    async close() {
      closed = true;
      const ending = [...members].map((member) => {
        clearTimeout(member.timer);
        return member.evaluator.kill();
      });
      const sent = [...members].flatMap((member) => member.jobs.splice(0));
      members.clear();
      for (const job of [...sent, ...queue.splice(0)]) if (!job.done) job.reject(givenUp());
      await Promise.all(ending);
    },
  };
}

function givenUp(): ExpressionError {
  return new ExpressionError("ABORTED", "The evaluation was given up.");
}
