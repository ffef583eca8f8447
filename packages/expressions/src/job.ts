import type { EvaluatorRequest, EvaluatorResponse } from "./protocol.ts";

/** One expression that somebody waits for. */
export interface Job {
  readonly companyId: string;
  readonly request: EvaluatorRequest;
  /** What it takes of the service's memory while it waits, in characters. */
  readonly chars: number;
  /** When it began to wait, by `performance.now()`. */
  readonly since: number;
  /** Whether its caller has heard the end of it. */
  done: boolean;
  /** Whether it gets a new process, and nothing else beside it. */
  alone: boolean;
  /** Whether it had to make room before; once is enough. */
  preempted: boolean;
  resolve(response: EvaluatorResponse): void;
  reject(error: Error): void;
}
