import type { Reason } from "@workflow/errors";

/** The text about a code in the description. */
interface ErrorText {
  /** The condition of the error. */
  when: string;
  /** `message` and `details` of an example. */
  example: { message: string; details?: unknown };
}

/** Every code, with an example in the form of the answers. */
export const ERROR_TEXTS: Readonly<Record<Reason, ErrorText>> = {
  BAD_REQUEST: {
    when: "the request's shape is wrong, or the object's status does not allow it; `details` names the fields",
    example: {
      message: "The request is not valid: name is required.",
      details: [{ path: ["name"], message: "is required" }],
    },
  },
  VALIDATION_ERROR: {
    when: "a workflow definition, a run's input, or a secret's key or value is wrong; `details` names the places",
    example: {
      message: "The workflow definition is not valid at steps.0.config.mapping: is required.",
      details: [{ path: ["steps", "0", "config", "mapping"], message: "is required" }],
    },
  },
  WORKFLOW_NOT_ACTIVE: {
    when: "the workflow is not active",
    example: { message: "The workflow is not active.", details: { currentStatus: "draft" } },
  },
  INVALID_STATE: {
    when: "the run's status does not allow it",
    example: {
      message: "The run is completed and cannot be cancelled.",
      details: { currentStatus: "completed" },
    },
  },
  INVALID_STEP: {
    when: "the run has no such step",
    example: { message: "The run's workflow has no step ship." },
  },
  NOT_CONFIGURED: {
    when: "the installation lacks a setting or part that the message names",
    example: { message: "OPENAI_API_KEY is not set." },
  },
  UNAUTHORIZED: {
    when: "the API key or the session is missing, unknown or ended",
    example: { message: "The API key is not valid." },
  },
  FORBIDDEN: {
    when: "the caller lacks the scope, or a session's request comes from another origin",
    example: { message: "The API key lacks the scope workflows:write." },
  },
  NOT_FOUND: {
    when: "there is no such object, or it is another company's",
    example: { message: "Workflow not found" },
  },
  METHOD_NOT_ALLOWED: {
    when: "the path has no such method; `Allow` names those it has",
    example: { message: "Use GET, HEAD here." },
  },
  EXECUTION_TIMEOUT: {
    when: "the run has not ended in time and `onTimeout` is `throw_error`; it goes on",
    example: {
      message: "The run did not end within 30000 ms. It goes on.",
      details: {
        run_id: "run_01kg9d1kzcexw9f1c3f4r7m004",
        workflow_id: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a0008",
        maxExecutionTimeMs: 30000,
      },
    },
  },
  CONFLICT: {
    when: "another change came in between, or the name or account is taken",
    example: { message: "The workflow keeps changing. Try again." },
  },
  PRECONDITION_FAILED: {
    when: "the object is not the one that `If-Match` names any more",
    example: { message: "The workflow was changed since it was read." },
  },
  PAYLOAD_TOO_LARGE: {
    when: "the body, or a value in it, is over its limit",
    example: { message: "The request body must be at most 1048576 bytes." },
  },
  UNSUPPORTED_MEDIA_TYPE: {
    when: "the body is not of the right type in UTF-8, or is compressed",
    example: { message: "The Content-Type must be application/json." },
  },
  RATE_LIMITED: {
    when: "too many requests, or too much at a time: `details.limit` then says of what; `Retry-After` says how long to wait",
    // The number is that of the operation's bucket.
    example: { message: "Rate limit exceeded." },
  },
  HEADERS_TOO_LARGE: {
    when: "the address and the headers of the request are too large",
    example: {
      message: "The request's address and headers must be at most 32768 bytes in all.",
    },
  },
  INTERNAL_ERROR: {
    when: "a fault of ours; report the `requestId`",
    example: { message: "An internal error occurred." },
  },
  TRIGGER_ERROR: {
    when: "the run failed and `onFailure` is `throw_error`",
    example: {
      message: "The server answered with status 503.",
      details: {
        run_id: "run_01kg9d1kzcexw9f1c3f4r7m004",
        workflow_id: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a0008",
        status: "failed",
        errorCode: "HTTP_STATUS",
      },
    },
  },
  UPSTREAM_ERROR: {
    when: "an outside provider could not be reached",
    example: { message: "The connection is being changed; try again." },
  },
  UNAVAILABLE: {
    when: "a part of the service is away for the moment, or too busy; `Retry-After` says how long to wait",
    example: { message: "The service is temporarily unavailable." },
  },
};
