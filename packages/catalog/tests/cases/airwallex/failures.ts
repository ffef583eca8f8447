import type { ActionCase } from "../action-case.ts";
import { REQUEST_ID, transfer } from "./transfer.ts";

/** Refusals of the provider. */
export const failures: readonly ActionCase[] = [
  {
    action: "createTransfer",
    what: "with a reference that Airwallex refuses",
    inputs: transfer,
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/api/v1/transfers/create",
          json: { request_id: REQUEST_ID, ...transfer },
        },
        answer: {
          status: 400,
          body: { code: "invalid_argument", source: "reference", message: "Value is too short" },
        },
      },
    ],
    failure: {
      status: 400,
      code: "invalid_argument",
      message: "Value is too short",
      retryable: false,
      badCredentials: false,
    },
  },
  {
    action: "getBalances",
    what: "too often, where nothing says how long to wait",
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/api/v1/balances/current" },
        answer: {
          status: 429,
          body: { code: "too_many_requests", message: "Rate Limit Exceeded.", details: {} },
        },
      },
    ],
    failure: {
      status: 429,
      code: "too_many_requests",
      message: "Rate Limit Exceeded.",
      retryable: true,
      limited: true,
      retryAfterMs: 1_000,
    },
  },
  {
    action: "getBalances",
    what: "with a token that is no more",
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/api/v1/balances/current" },
        answer: { status: 401, body: { code: "unauthorized", message: "Access denied" } },
      },
    ],
    failure: {
      status: 401,
      code: "unauthorized",
      message: "Access denied",
      retryable: false,
      badCredentials: true,
    },
  },
  {
    action: "getBalances",
    what: "with a key that lacks the right",
    inputs: {},
    exchanges: [
      {
        request: { method: "GET", path: "/api/v1/balances/current" },
        answer: { status: 403, body: { code: "unauthorized", message: "Permission denied" } },
      },
    ],
    failure: {
      status: 403,
      code: "unauthorized",
      message: "Permission denied",
      retryable: false,
      badCredentials: false,
    },
  },
];
