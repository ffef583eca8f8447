/**
 * The closed list of reasons that cross a service boundary, each with the gRPC status code that
 * carries it. The reason itself travels in `google.rpc.ErrorInfo.reason`, so two reasons may share
 * a code. HTTP statuses are the gateway's business and live there.
 *
 * Numbers are gRPC status codes (https://grpc.github.io/grpc/core/md_doc_statuscodes.html), written
 * out so that this package depends on nothing.
 */
export const GRPC_CODE_BY_REASON = {
  /** The request's shape is wrong (D3). */
  BAD_REQUEST: 3,
  /** A workflow definition, run input, secret key or secret value is wrong (D3). */
  VALIDATION_ERROR: 3,
  /** No credential, or one that is not valid (any more). */
  UNAUTHORIZED: 16,
  /** The credential is valid but lacks the scope. */
  FORBIDDEN: 7,
  /** Missing, of another company, or an id of the wrong form (D1). */
  NOT_FOUND: 5,
  /** The path is known, the method is not. */
  METHOD_NOT_ALLOWED: 12,
  /** Another object or a concurrent change stands in the way. */
  CONFLICT: 6,
  /** The object is not (any more) the one that the request's `If-Match` names (RFC 9110). */
  PRECONDITION_FAILED: 10,
  /** A body or a value is larger than its limit (D4). */
  PAYLOAD_TOO_LARGE: 11,
  /** The address and the headers of a request are larger than its route needs. */
  HEADERS_TOO_LARGE: 11,
  /** A body that is not JSON in UTF-8. */
  UNSUPPORTED_MEDIA_TYPE: 3,
  /** Running a workflow whose status is not active (D25). */
  WORKFLOW_NOT_ACTIVE: 9,
  /** The run's status does not allow the operation. */
  INVALID_STATE: 9,
  /** The step named to restart from does not exist (D27). */
  INVALID_STEP: 3,
  /** A synchronous run did not end in time and the caller asked for an error (D25). */
  EXECUTION_TIMEOUT: 4,
  /** A synchronous run failed and the caller asked for an error. */
  TRIGGER_ERROR: 10,
  /** More requests than the rate limit allows. */
  RATE_LIMITED: 8,
  /** An outside provider could not be reached. */
  UPSTREAM_ERROR: 14,
  /** A part of the service is not reachable at the moment; a retry later is right. */
  UNAVAILABLE: 14,
  /** A setting of the installation that the operation needs is not there. */
  NOT_CONFIGURED: 9,
  /** A fault of ours. */
  INTERNAL_ERROR: 13,
} as const;

/** What went wrong, as a stable code that callers may branch on. */
export type Reason = keyof typeof GRPC_CODE_BY_REASON;

/** Whether a text received from elsewhere is one of the known reasons. */
export function isReason(value: string): value is Reason {
  return Object.hasOwn(GRPC_CODE_BY_REASON, value);
}
