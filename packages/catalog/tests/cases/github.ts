import type { ActionCase, ProviderCases } from "./action-case.ts";

const HELLO = { owner: "octocat", repo: "hello-world" };
const ISSUES = "/repos/octocat/hello-world/issues";

const issues: readonly ActionCase[] = [
  {
    action: "createIssue",
    inputs: { ...HELLO, title: "Bröken", body: "", labels: ["bug", "a,b"], milestone: 3 },
    exchanges: [
      {
        request: {
          method: "POST",
          path: ISSUES,
          json: { title: "Bröken", labels: ["bug", "a,b"], milestone: 3 },
        },
        answer: { status: 201, body: { id: 1, number: 17, state: "open" } },
      },
    ],
    output: { id: 1, number: 17, state: "open" },
  },
  {
    action: "createIssue",
    what: "in a repository whose name is a way elsewhere",
    inputs: { owner: "octocat", repo: "a/b?x=1#y", title: "It is broken" },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/repos/octocat/a%2Fb%3Fx%3D1%23y/issues",
          json: { title: "It is broken" },
        },
        answer: { status: 404, body: { message: "Not Found", status: "404" } },
      },
    ],
    failure: { status: 404, code: null, message: "Not Found", retryable: false },
  },
  {
    action: "createIssue",
    what: "in a repository of a dot",
    inputs: { owner: "octocat", repo: "..", title: "It is broken" },
    exchanges: [],
    refused: "repo",
  },
  {
    action: "updateIssue",
    what: "without a reason that has no state",
    inputs: { ...HELLO, issue_number: 17, title: "Mended", state_reason: "completed", labels: [] },
    exchanges: [
      {
        request: { method: "PATCH", path: `${ISSUES}/17`, json: { title: "Mended", labels: [] } },
        answer: { body: { id: 1, number: 17, title: "Mended" } },
      },
    ],
    output: { id: 1, number: 17, title: "Mended" },
  },
  {
    action: "updateIssue",
    what: "with a reason",
    inputs: { ...HELLO, issue_number: 17, state: "closed", state_reason: "not_planned" },
    exchanges: [
      {
        request: {
          method: "PATCH",
          path: `${ISSUES}/17`,
          json: { state: "closed", state_reason: "not_planned" },
        },
        answer: { body: { id: 1, state: "closed" } },
      },
    ],
    output: { id: 1, state: "closed" },
  },
  {
    action: "listIssues",
    what: "over two pages, along the header Link",
    inputs: { ...HELLO, state: "all", labels: ["bug", "ui"], limit: 3 },
    exchanges: [
      {
        request: {
          method: "GET",
          path: ISSUES,
          query: { state: "all", labels: "bug,ui", per_page: "3" },
        },
        answer: {
          headers: {
            link: '</repositories/1296269/issues?per_page=3&page=2>; rel="next", </repositories/1296269/issues?per_page=3&page=9>; rel="last"',
          },
          body: [{ number: 9 }, { number: 8 }],
        },
      },
      {
        request: {
          method: "GET",
          path: "/repositories/1296269/issues",
          query: { per_page: "3", page: "2" },
        },
        answer: {
          headers: { link: '</repositories/1296269/issues?per_page=3&page=1>; rel="prev"' },
          body: [{ number: 7 }],
        },
      },
    ],
    output: { issues: [{ number: 9 }, { number: 8 }, { number: 7 }], hasMore: false },
  },
  {
    action: "listIssues",
    what: "without labels",
    inputs: { ...HELLO, limit: 1 },
    exchanges: [
      {
        request: { method: "GET", path: ISSUES, query: { per_page: "1" } },
        answer: {
          headers: { link: '</repositories/1296269/issues?per_page=1&page=2>; rel="next"' },
          body: [{ number: 9 }],
        },
      },
    ],
    output: { issues: [{ number: 9 }], hasMore: true },
  },
  {
    action: "createComment",
    inputs: { ...HELLO, issue_number: 17, body: "Thank you!" },
    exchanges: [
      {
        request: { method: "POST", path: `${ISSUES}/17/comments`, json: { body: "Thank you!" } },
        answer: { status: 201, body: { id: 5, body: "Thank you!" } },
      },
    ],
    output: { id: 5, body: "Thank you!" },
  },
];

const pull = { title: "Mend it", head: "mend-it", base: "main", draft: false };

const others: readonly ActionCase[] = [
  {
    action: "createPullRequest",
    inputs: { ...HELLO, ...pull },
    exchanges: [
      {
        request: { method: "POST", path: "/repos/octocat/hello-world/pulls", json: pull },
        answer: { status: 201, body: { id: 2, number: 18 } },
      },
    ],
    output: { id: 2, number: 18 },
  },
  {
    action: "createPullRequest",
    what: "of a branch without commits",
    inputs: { ...HELLO, ...pull },
    exchanges: [
      {
        request: { method: "POST", path: "/repos/octocat/hello-world/pulls", json: pull },
        answer: {
          status: 422,
          body: {
            message: "Validation Failed",
            errors: [
              {
                resource: "PullRequest",
                code: "custom",
                message: "No commits between main and mend-it",
              },
            ],
            documentation_url: "https://docs.github.com/rest/pulls/pulls#create-a-pull-request",
            status: "422",
          },
        },
      },
    ],
    failure: {
      status: 422,
      code: "custom",
      message: "No commits between main and mend-it",
      retryable: false,
      limited: false,
      badCredentials: false,
    },
  },
  {
    action: "dispatchWorkflow",
    inputs: { ...HELLO, workflow_id: "ci.yml", ref: "main", inputs: { level: "info" } },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/repos/octocat/hello-world/actions/workflows/ci.yml/dispatches",
          json: { ref: "main", inputs: { level: "info" }, return_run_details: true },
        },
        answer: {
          body: { workflow_run_id: 7, html_url: "https://github.com/octocat/x/actions/7" },
        },
      },
    ],
    output: { workflow_run_id: 7, html_url: "https://github.com/octocat/x/actions/7" },
  },
];

const comment = { method: "POST", path: `${ISSUES}/17/comments`, json: { body: "Hello" } };
const commenting = {
  action: "createComment",
  inputs: { ...HELLO, issue_number: 17, body: "Hello" },
};

const failures: readonly ActionCase[] = [
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

export const githubCases: ProviderCases = {
  provider: "github",
  fields: {},
  credentials: { accessToken: "gho_canary" },
  signature: {
    headers: {
      authorization: "Bearer gho_canary",
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
      "user-agent": "workflow-automation",
    },
  },
  cases: [...issues, ...others, ...failures],
};
