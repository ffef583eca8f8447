import type { ActionCase } from "../action-case.ts";
import { HELLO, ISSUES } from "./repository.ts";

const comment = { method: "POST", path: `${ISSUES}/17/comments`, json: { body: "Hello" } };

const commenting = {
  action: "createComment",
  inputs: { ...HELLO, issue_number: 17, body: "Hello" },
};

/** Refusals of the provider. */
export const failures: readonly ActionCase[] = [
  {
    ...commenting,
    what: "too fast: a secondary limit",
    exchanges: [
      {
        request: comment,
        answer: {
          status: 403,
          headers: {
            "retry-after": "60",
            "x-ratelimit-remaining": "4999",
            "x-ratelimit-reset": "4102444800",
          },
          body: { message: "You have exceeded a secondary rate limit." },
        },
      },
    ],
    failure: {
      status: 403,
      code: null,
      message: "You have exceeded a secondary rate limit.",
      retryable: true,
      limited: true,
      badCredentials: false,
      retryAfterMs: 60_000,
    },
  },
  {
    ...commenting,
    what: "too fast, where only a part of the limit is spent: a minute, not until the reset",
    exchanges: [
      {
        request: comment,
        answer: {
          status: 429,
          headers: { "x-ratelimit-remaining": "4999", "x-ratelimit-reset": "4102444800" },
          body: { message: "You have exceeded a secondary rate limit." },
        },
      },
    ],
    failure: {
      status: 429,
      code: null,
      message: "You have exceeded a secondary rate limit.",
      retryable: true,
      limited: true,
      retryAfterMs: 60_000,
    },
  },
  {
    ...commenting,
    what: "with nothing left of the hour's calls",
    exchanges: [
      {
        request: comment,
        answer: {
          status: 403,
          headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1" },
          body: { message: "API rate limit exceeded for user ID 1." },
        },
      },
    ],
    failure: {
      status: 403,
      code: null,
      message: "API rate limit exceeded for user ID 1.",
      retryable: true,
      limited: true,
      badCredentials: false,
      retryAfterMs: 0,
    },
  },
  {
    ...commenting,
    what: "while GitHub fails, which has nothing to do with the limit's reset",
    exchanges: [
      {
        request: comment,
        answer: {
          status: 502,
          headers: { "x-ratelimit-remaining": "4999", "x-ratelimit-reset": "4102444800" },
          body: { message: "Server Error" },
        },
      },
    ],
    failure: {
      status: 502,
      code: null,
      message: "Server Error",
      retryable: true,
      limited: false,
      retryAfterMs: null,
    },
  },
  {
    ...commenting,
    what: "without the right to",
    exchanges: [
      {
        request: comment,
        answer: {
          status: 403,
          headers: { "x-ratelimit-remaining": "4998" },
          body: { message: "Resource not accessible by integration" },
        },
      },
    ],
    failure: {
      status: 403,
      code: null,
      message: "Resource not accessible by integration",
      retryable: false,
      limited: false,
      badCredentials: false,
    },
  },
  {
    ...commenting,
    what: "with a token that was revoked",
    exchanges: [
      {
        request: comment,
        answer: { status: 401, body: { message: "Bad credentials", status: "401" } },
      },
    ],
    failure: {
      status: 401,
      code: null,
      message: "Bad credentials",
      retryable: false,
      badCredentials: true,
    },
  },
];
