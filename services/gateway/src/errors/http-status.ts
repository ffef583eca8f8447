import type { Reason } from "@workflow/errors";

/**
 * The HTTP status of every error code; no other place maps them. `error.code` of a response is the
 * reason itself.
 */
export const HTTP_STATUS_BY_REASON = {
  BAD_REQUEST: 400,
  VALIDATION_ERROR: 400,
  WORKFLOW_NOT_ACTIVE: 400,
  INVALID_STATE: 400,
  INVALID_STEP: 400,
  NOT_CONFIGURED: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  EXECUTION_TIMEOUT: 408,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  TRIGGER_ERROR: 500,
  UPSTREAM_ERROR: 502,
  UNAVAILABLE: 503,
} as const satisfies Record<Reason, number>;
