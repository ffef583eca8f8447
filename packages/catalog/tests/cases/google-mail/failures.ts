import type { ActionCase } from "../action-case.ts";

function refusal(
  what: string,
  answer: { status: number; reason: string; state: string; message: string },
  failure: Partial<NonNullable<ActionCase["failure"]>> = {},
): ActionCase {
  const { status, reason, state, message } = answer;
  const errors = [{ message, domain: "global", reason }];
  return {
    action: "listLabels",
    what,
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/gmail/v1/users/me/labels" },
        answer: { status, body: { error: { code: status, message, errors, status: state } } },
      },
    ],
    failure: { status, code: reason, message, retryable: false, ...failure },
  };
}

/** Refusals of the provider. */
export const failures: readonly ActionCase[] = [
  refusal("of what is not there", {
    status: 404,
    reason: "notFound",
    state: "NOT_FOUND",
    message: "Requested entity was not found.",
  }),
  refusal(
    "too often, which Gmail says with status 403",
    {
      status: 403,
      reason: "userRateLimitExceeded",
      state: "PERMISSION_DENIED",
      message: "User Rate Limit Exceeded",
    },
    { retryable: true, limited: true, badCredentials: false },
  ),
  refusal(
    "with a token that is none",
    {
      status: 401,
      reason: "authError",
      state: "UNAUTHENTICATED",
      message: "Invalid Credentials",
    },
    { badCredentials: true },
  ),
  refusal(
    "without the right to do so",
    {
      status: 403,
      reason: "insufficientPermissions",
      state: "PERMISSION_DENIED",
      message: "Insufficient Permission",
    },
    { badCredentials: false },
  ),
];
