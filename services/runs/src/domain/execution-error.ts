/** Why a run or a step failed, as it is stored and shown. */
export interface ExecutionError {
  code: string;
  message: string;
  details?: Record<string, unknown> | undefined;
}
