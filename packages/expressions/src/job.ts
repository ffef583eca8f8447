import type { EvaluatorRequest, EvaluatorResponse } from "./protocol.ts";

/** An expression that a caller waits for. */
export interface Job {
  readonly companyId: string;
  readonly request: EvaluatorRequest;
  /** The memory that it takes while it waits, in characters. */
  readonly chars: number;
  /** When the wait began, by `performance.now()`. */
  readonly since: number;
  /** True when its caller has an answer. */
  done: boolean;
  /** True when it needs a new process for itself. */
  alone: boolean;
  /** True when it has made room before; once is enough. */
  preempted: boolean;
  resolve(response: EvaluatorResponse): void;
  reject(error: Error): void;
}
