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
import type {
  EvaluationRequest,
  EvaluatorRequest,
  EvaluatorResponse,
  ParseRequest,
} from "./protocol.ts";
import { startEvaluator } from "./start-evaluator.ts";

/**
 * Parses and evaluates JSONata in separate processes, within limits of time and memory, and in turns
 * between companies.
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
   * Lists the paths that an expression reads, or explains why it is invalid.
   *
   * @throws ExpressionError when it took too much time or memory, or did not get its turn
   */
  parse(companyId: string, expression: string): Promise<ParsedExpression>;
  /** Ends the processes; unfinished work is rejected. */
  close(): Promise<void>;
}

/** The pool's limits; each has a default. */
export interface ExpressionPoolOptions {
  logger?: Logger;
  /** The registry for the waiting and refused expressions; without one the pool has no metrics. */
  metricsRegistry?: Registry | undefined;
  /** The name of the pool in metrics; several pools may share a registry. */
  name?: string;
  processes?: number;
  /** The time limit of one expression, in milliseconds. */
  timeoutMs?: number;
  /** The heap limit of one process, in MiB. */
  memoryMiB?: number;
  inputCharsMax?: number;
  outputCharsMax?: number;
  queueLimits?: QueueLimits;
  /** The levels of confinement to try; all by default. */
  levels?: readonly ConfinementLevel[];
}

/** The part of a request that the caller gives. */
type Question = Omit<EvaluationRequest, "id"> | Omit<ParseRequest, "id">;

/** The default limit of an input. A parsed document takes several times its text. */
const INPUT_CHARS_MAX = 16 * 1024 * 1024;
const OUTPUT_CHARS_MAX = 4 * 1024 * 1024;

/** Opens a pool; its processes start when they are needed. */
export function createExpressionPool(options: ExpressionPoolOptions = {}): ExpressionPool {
  const inputCharsMax = options.inputCharsMax ?? INPUT_CHARS_MAX;
  const outputCharsMax = options.outputCharsMax ?? OUTPUT_CHARS_MAX;
  const queues = new CompanyQueues(options.queueLimits ?? QUEUE_LIMITS);
  let running = (): number => 0;
  const stopShowing = showWaiting(options, queues, () => running());
  const opening = openDispatcher(options, queues).then((dispatcher) => {
    running = () => dispatcher.running;
    return dispatcher;
  });
  const questions = createQuestions(options, queues, opening);

  return {
    async evaluate(companyId, expression, input, signal) {
      if (input.length > inputCharsMax) throw inputTooLarge(inputCharsMax);
      const question = { kind: "evaluate", expression, input, outputCharsMax } as const;
      const response = await questions.ask(companyId, question, signal);
      if (!response.ok) throw new ExpressionError(response.code, response.message);
      if (response.kind !== "evaluate") throw new Error("an evaluator parsed instead");
      return response.output;
    },
    async parse(companyId, expression) {
      const response = await questions.ask(companyId, { kind: "parse", expression });
      if (!response.ok) throw new ExpressionError(response.code, response.message);
      if (response.kind !== "parse") throw new Error("an evaluator evaluated instead");
      return response.parsed;
    },
    async close() {
      stopShowing?.();
      const waiting = questions.close();
      const dispatcher = await opening;
      for (const job of [...waiting, ...(await dispatcher.close())]) {
        if (!job.done) job.reject(givenUp());
      }
    },
  };
}

/** Queues questions for the dispatcher, and refuses a question when its queue is full. */
function createQuestions(
  { metricsRegistry }: ExpressionPoolOptions,
  queues: CompanyQueues,
  opening: Promise<Dispatcher>,
) {
  const refused = metricsRegistry && refusedCounter(metricsRegistry);
  let nextId = 1;
  let closed = false;
  return {
    /** Rejects with an ExpressionError when the question gets no turn. */
    ask: (companyId: string, question: Question, signal?: AbortSignal) =>
      new Promise<EvaluatorResponse>((resolve, reject) => {
        const onAbort = (): void => {
          job.done = true;
          queues.remove(job);
          reject(givenUp());
        };
        const release = (): void => signal?.removeEventListener("abort", onAbort);
        const request = { ...question, id: nextId++ };
        const job = createJob(companyId, request, {
          resolve(response) {
            release();
            resolve(response);
          },
          reject(error) {
            release();
            reject(error);
          },
        });
        if (closed || signal?.aborted === true) {
          reject(givenUp());
        } else if (queues.push(job)) {
          signal?.addEventListener("abort", onAbort, { once: true });
          opening.then((dispatcher) => dispatcher.wake(), reject);
        } else {
          refused?.inc();
          reject(queueFull());
        }
      }),
    /** Accepts no more questions, and returns the waiting ones. */
    close(): Job[] {
      closed = true;
      return queues.takeAll();
    },
  };
}

async function openDispatcher(
  options: ExpressionPoolOptions,
  queues: CompanyQueues,
): Promise<Dispatcher> {
  const { processes = 3, timeoutMs = 2_000, memoryMiB = 96 } = options;
  const confinement = await findConfinement(options.levels);
  options.logger?.info({ confinement: confinement.level }, "expressions have confined processes");
  const evaluator = { confinement, source: evaluatorSource(), memoryMiB };
  return createDispatcher({
    queues,
    startEvaluator: (events) => startEvaluator(evaluator, events),
    processes,
    timeoutMs,
    memoryMiB,
  });
}

/**
 * Shows the waiting expressions in metrics. Returns a function that ends the export; undefined without
 * a registry.
 */
function showWaiting(
  { metricsRegistry, name = "expressions" }: ExpressionPoolOptions,
  queues: CompanyQueues,
  running: () => number,
): (() => void) | undefined {
  return (
    metricsRegistry &&
    showQueue(metricsRegistry, name, () => ({
      waiting: queues.size,
      oldestSince: queues.oldestSince,
      running: running(),
    }))
  );
}

/** A job that begins to wait now. */
function createJob(
  companyId: string,
  request: EvaluatorRequest,
  { resolve, reject }: Pick<Job, "resolve" | "reject">,
): Job {
  return {
    companyId,
    request,
    chars: request.expression.length + (request.kind === "evaluate" ? request.input.length : 0),
    since: performance.now(),
    done: false,
    alone: false,
    preempted: false,
    resolve,
    reject,
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
