export { AppError, isAppError, toAppError } from "./app-error.ts";
export type { AppErrorOptions, Violation } from "./app-error.ts";
export { FAILURE_CODES, isFailureCode } from "./failure-codes.ts";
export type { FailureCode } from "./failure-codes.ts";
export { invalidRequest, nameFirst, nameFirstPlace } from "./invalid-request.ts";
export { GRPC_CODE_BY_REASON, isReason } from "./reasons.ts";
export type { Reason } from "./reasons.ts";
