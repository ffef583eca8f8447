export { createClient } from "./client.ts";
export type { WorkflowClient } from "./client.ts";
export { connect } from "./api.ts";
export type {
  Api,
  ApiOptions,
  CallOptions,
  Fetch,
  Idempotent,
  IfMatch,
  ResponseInfo,
} from "./api.ts";
export {
  ApiError,
  ConnectionError,
  InvalidAnswerError,
  InvalidParameterError,
  isApiError,
  TimeoutError,
  WorkflowError,
} from "./errors.ts";
export type { ErrorDetails, FieldProblem } from "./errors.ts";
export { List } from "./list.ts";
export type { Page } from "./list.ts";
export { watchRun } from "./run-events.ts";
export type { RunEvent, RunUpdate, WatchOptions } from "./run-events.ts";
export { RunFailedError, RunNotEndedError, runAndWait, runWorkflow, waitForRun } from "./runs.ts";
export type { RunAndWaitBody, StartedRun, WaitOptions } from "./runs.ts";
export { verifyWebhook, WebhookVerificationError } from "./webhooks.ts";
export type { VerifyOptions, WebhookHeaders, WebhookPayload, WebhookRefusal } from "./webhooks.ts";
export * from "./generated/operations.gen.ts";
export type * from "./generated/types.gen.ts";
