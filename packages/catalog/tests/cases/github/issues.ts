import type { ActionCase } from "../action-case.ts";
import { HELLO, ISSUES } from "./repository.ts";

/** Issues and comments. */
export const issues: readonly ActionCase[] = [
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
