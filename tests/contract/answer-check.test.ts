import { beforeAll, expect, it } from "@jest/globals";
import { AnswerChecker } from "../support/description/answer-checker.ts";
import { readDescription } from "../support/description/description.ts";

let checker: AnswerChecker;

beforeAll(async () => {
  checker = new AnswerChecker(await readDescription());
});

const HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "x-request-id": "one",
  link: '</api/v1/openapi.json>; rel="service-desc"',
};
const DELETED = { success: true, data: { deleted: true } };

/** What is said of an answer; by default of a good one. */
function problemsOf({
  method = "DELETE",
  pathname = "/api/v1/tables/0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a",
  headers = {},
  body = DELETED,
}: {
  method?: string;
  pathname?: string;
  headers?: Record<string, string>;
  body?: unknown;
} = {}): string {
  const status = 200;
  const all = new Headers({ ...HEADERS, ...headers });
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return (
    checker.check({ method, pathname, status, headers: all, body: text })?.problems.join() ?? ""
  );
}

const EXPORT = { method: "GET", pathname: "/api/v1/tables/1/rows/export" };
const FILE = {
  "content-type": "application/jsonl",
  "content-disposition": 'attachment; filename="Orders.jsonl"',
};
const EVENTS = {
  method: "GET",
  pathname: "/api/v1/runs/1/events",
  headers: { "content-type": "text/event-stream" },
};

it("finds nothing wrong with answers that are as they are described", () => {
  expect(problemsOf()).toBe("");
  expect(problemsOf({ headers: { "x-ratelimit-remaining": "99" } })).toBe("");
  expect(problemsOf({ ...EXPORT, headers: FILE, body: '{"id":"1"}\n{"id":"2"}\n' })).toBe("");
  expect(
    problemsOf({ ...EVENTS, body: "retry: 1000\n\n: still there\n\nevent: run\ndata: {}\n\n" }),
  ).toBe("");
});

it("finds members that are not described, although clients have to expect them", () => {
  expect(problemsOf({ body: { ...DELETED, more: 1 } })).toContain("more");
  expect(problemsOf({ body: { success: true, data: { deleted: true, more: 1 } } })).toContain(
    "more",
  );
});

it("finds headers that are missing, wrong or not described", () => {
  expect(problemsOf({ headers: { etag: '"1"' } })).toContain("ETag is not described");
  expect(problemsOf({ headers: { "x-ratelimit-limit": "many" } })).toContain(
    "X-RateLimit-Limit is many",
  );
  expect(problemsOf({ headers: { "x-request-id": "a b" } })).toContain("X-Request-Id is a b");
  expect(
    problemsOf({ ...EXPORT, headers: { "content-type": FILE["content-type"] }, body: "" }),
  ).toContain("Content-Disposition is missing");
});

it("finds files and events that are no such thing", () => {
  expect(problemsOf({ ...EXPORT, headers: FILE, body: "id,name\n" })).toContain(
    "no application/jsonl",
  );
  expect(problemsOf({ ...EVENTS, body: "data: nothing\n\n" })).toContain("no text/event-stream");
  expect(problemsOf({ ...EVENTS, headers: {}, body: "{}" })).toContain("the content type is");
});
