import type { ParsedExpression } from "@workflow/definition";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { CompanyQueues, QUEUE_LIMITS } from "./company-queues.ts";
import type { QueueLimits } from "./company-queues.ts";
import { findConfinement } from "./confinement.ts";
import type { ConfinementLevel } from "./confinement.ts";
import { createDispatcher } from "./dispatcher.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { ExpressionError } from "./expression-error.ts";
import type { Job } from "./job.ts";
import { refusedCounter, showQueue } from "./metrics.ts";
import { evaluatorSource } from "./program-source.ts";
import type { EvaluationRequest, EvaluatorResponse, ParseRequest } from "./protocol.ts";
import { startEvaluator } from "./start-evaluator.ts";

/**
 * Parses and evaluates JSONata in processes of their own, within limits of time and memory and in
 * turns between companies.
 */
export interface ExpressionPool {
  /**
   * @param input the input document as JSON text
   * @returns the result as JSON text
   * @throws ExpressionError
   */
  evaluate(
    companyId: string,
    expression: string,
    input: string,
    signal?: AbortSignal,
  ): Promise<string>;
  /**
   * Says what an expression reads, or why it is none.
   *
   * @throws ExpressionError when it took too much time or memory, and when it did not get its turn
   */
  parse(companyId: string, expression: string): Promise<ParsedExpression>;
  /** Ends the processes; what is not finished yet is rejected. */
  close(): Promise<void>;
}

/** The pool's limits; each has a default. */
export interface ExpressionPoolOptions {
  logger?: Logger;
  /** Where the pool shows what waits and what was refused; without one it does not. */
  metricsRegistry?: Registry | undefined;
  /** What the pool is called in metrics; several may share a registry. */
  name?: string;
  processes?: number;
  /** Longest evaluation of one expression, in milliseconds. */
  timeoutMs?: number;
  /** Heap of one process, in MiB. */
  memoryMiB?: number;
  inputCharsMax?: number;
  outputCharsMax?: number;
  queueLimits?: QueueLimits;
  /** Levels of confinement to try; all of them by default. */
  levels?: readonly ConfinementLevel[];
}

/** What of a request the pool does not fill in itself. */
type Question = Omit<EvaluationRequest, "id"> | Omit<ParseRequest, "id">;

/** Opens a pool; its processes start when they are needed. */
export function createExpressionPool(options: ExpressionPoolOptions = {}): ExpressionPool {
  const { processes = 3, timeoutMs = 2_000, memoryMiB = 96 } = options;
  // A document takes several times its text as values.
  const inputCharsMax = options.inputCharsMax ?? 16 * 1024 * 1024;
  const outputCharsMax = options.outputCharsMax ?? 4 * 1024 * 1024;
  const queues = new CompanyQueues(options.queueLimits ?? QUEUE_LIMITS);
  const refused = options.metricsRegistry && refusedCounter(options.metricsRegistry);
  let running = (): number => 0;
  const stopShowing =
    options.metricsRegistry &&
    showQueue(options.metricsRegistry, options.name ?? "expressions", () => ({
      waiting: queues.size,
      oldestSince: queues.oldestSince,
      running: running(),
    }));
  let nextId = 1;
  let closed = false;

  const opening: Promise<Dispatcher> = openDispatcher();
  async function openDispatcher(): Promise<Dispatcher> {
    const confinement = await findConfinement(options.levels);
    options.logger?.info({ confinement: confinement.level }, "expressions have confined processes");
    const evaluator = { confinement, source: evaluatorSource(), memoryMiB };
    const dispatcher = createDispatcher({
      queues,
      startEvaluator: (events) => startEvaluator(evaluator, events),
      processes,
      timeoutMs,
      memoryMiB,
    });
    running = () => dispatcher.running;
    return dispatcher;
  }

  const ask = (
    companyId: string,
    question: Question,
    signal?: AbortSignal,
  ): Promise<EvaluatorResponse> =>
    new Promise((resolve, reject) => {
      const onAbort = (): void => {
        job.done = true;
        queues.remove(job);
        reject(givenUp());
      };
      const release = (): void => signal?.removeEventListener("abort", onAbort);
      const request = { ...question, id: nextId++ };
      const job: Job = {
        companyId,
        request,
        chars: request.expression.length + (request.kind === "evaluate" ? request.input.length : 0),
        since: performance.now(),
        done: false,
        alone: false,
        preempted: false,
        resolve(response) {
          release();
          resolve(response);
        },
        reject(error) {
          release();
          reject(error);
        },
      };
      if (closed || signal?.aborted === true) {
        reject(givenUp());
      } else if (queues.push(job)) {
        signal?.addEventListener("abort", onAbort, { once: true });
        opening.then((dispatcher) => dispatcher.wake(), reject);
      } else {
        refused?.inc();
        reject(queueFull());
      }
    });

  return {
    async evaluate(companyId, expression, input, signal) {
      if (input.length > inputCharsMax) throw inputTooLarge(inputCharsMax);
      const question = { kind: "evaluate", expression, input, outputCharsMax } as const;
      const response = await ask(companyId, question, signal);
      if (!response.ok) throw new ExpressionError(response.code, response.message);
      if (response.kind !== "evaluate") throw new Error("an evaluator parsed instead");
      return response.output;
    },
    async parse(companyId, expression) {
      const response = await ask(companyId, { kind: "parse", expression });
      if (!response.ok) throw new ExpressionError(response.code, response.message);
      if (response.kind !== "parse") throw new Error("an evaluator evaluated instead");
      return response.parsed;
    },
    async close() {
      closed = true;
      stopShowing?.();
      const waiting = queues.takeAll();
      const dispatcher = await opening;
      for (const job of [...waiting, ...(await dispatcher.close())]) {
        if (!job.done) job.reject(givenUp());
      }
    },
  };
}

function givenUp(): ExpressionError {
  return new ExpressionError("ABORTED", "The evaluation was given up.");
}

function queueFull(): ExpressionError {
  const message = "Too many expressions of the company wait to be evaluated already.";
  return new ExpressionError("EXPRESSION_QUEUE_FULL", message);
}

function inputTooLarge(charsMax: number): ExpressionError {
  const message = `The expression's input has more than ${charsMax} characters.`;
  return new ExpressionError("EXPRESSION_MEMORY", message);
}
