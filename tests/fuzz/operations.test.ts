import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { Reason } from "@workflow/errors";
import { ROUTES } from "@workflow/service-gateway/routes";
import type { Route } from "@workflow/service-gateway/routes";
import { fc } from "@workflow/testkit/property-test";
import { readApiDocument } from "../support/api-document.ts";
import type { ApiDocument } from "../support/api-document.ts";
import { AnswerChecker } from "../support/description/answer-checker.ts";
import { readDescription } from "../support/description/description.ts";
import { startDrivenSystem } from "../support/driven-system.ts";
import type { DrivenSystem } from "../support/driven-system.ts";
import { createLiveRequests, pathOf } from "../support/live-requests.ts";
import { createSenders, headersOf, sendRaw } from "../support/raw-requests.ts";
import type { LiveRequest } from "../support/live-requests.ts";
import type { RawAnswer, RawRequest } from "../support/raw-requests.ts";
import { nameOf } from "../support/route-requests.ts";
import { requestOf } from "./support/request-arbitrary.ts";
import { FUZZ_RUNS } from "./support/runs.ts";

/** What the contract has of server errors, which an operation may answer that declares them. */
const SERVER_ERRORS: readonly Reason[] = ["TRIGGER_ERROR", "UPSTREAM_ERROR"];
/** The only operation that fails inside for reasons outside (the contract: "credential refresh failed"). */
const REFRESH = "POST /connections/{id}/refresh";
/** Operations of which no request succeeds here, and why. */
const NEVER_GOOD: Readonly<Record<string, string>> = {
  "GET /connections/{provider}/auth-url":
    "needs a provider without API keys, which a life cycle has",
  "GET /connections/{provider}/callback": "needs the secret of an attempt, which a life cycle has",
  "GET /connections/{id}/plaid/accounts": "needs a bank whose tokens come from its own pages",
};
/** So many requests share an object that they may change or use up. */
const REQUESTS_PER_OBJECT = 10;

let system: DrivenSystem;
let document: ApiDocument;
let checker: AnswerChecker;
let prepare: (route: Route) => Promise<LiveRequest>;
const nextSender = createSenders();

beforeAll(async () => {
  system = await startDrivenSystem();
  document = await readApiDocument();
  checker = new AnswerChecker(await readDescription());
  prepare = createLiveRequests(system);
});
afterAll(() => system.stop());

describe.each(ROUTES.map((route) => ({ name: nameOf(route), route })))("$name", ({ route }) => {
  it("answers whatever the description lets one send, and worse, as it is described", async () => {
    let count = 0;
    let live = await prepare(route);
    const statuses = new Set<number>();
    const property = fc.asyncProperty(
      requestOf(document, document.operationOf(route)),
      async ({ toRequest }) => {
        count += 1;
        if (route.method !== "GET" && count % REQUESTS_PER_OBJECT === 0)
          live = await prepare(route);
        const request = toRequest(live);
        // Of one address, sign-ins and callbacks are limited.
        const answer = await sendRaw(system, { ...request, from: nextSender() });
        statuses.add(answer.status);
        const fault = faultOf(route, answer);
        if (fault !== null) {
          const { body = "" } = request;
          throw new Error(`${fault}: ${request.method} ${request.path} ${body.slice(0, 2_000)}`);
        }
      },
    );
    const good = { toRequest: (given: LiveRequest) => unchanged(route, given) };
    await fc.assert(property, { numRuns: FUZZ_RUNS, examples: [[good]] });
    // What only ever meets refusals tells nothing of what an operation does.
    const isGood = [...statuses].some((status) => status < 400);
    expect({ isGood, statuses }).toEqual({ isGood: !(nameOf(route) in NEVER_GOOD), statuses });
  });
});

/** The good request of an operation, as it is. */
function unchanged(route: Route, { params, query, headers, body }: LiveRequest): RawRequest {
  const encoded = Object.entries(params).map(([name, value]) => [name, encodeURIComponent(value)]);
  const path = pathOf(route, Object.fromEntries(encoded));
  return {
    method: route.method,
    path: query === "" ? path : `${path}?${query}`,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

/** What is wrong with an answer; null when nothing is. */
function faultOf(route: Route, { status, headers, text }: RawAnswer): string | null {
  if (status >= 500) {
    const known = SERVER_ERRORS.filter((code) => route.errors.includes(code));
    const codes = nameOf(route) === REFRESH ? [...known, "INTERNAL_ERROR"] : known;
    const isKnown = codes.some((code) => text.includes(`"code":"${code}"`));
    if (!isKnown) return `a server error, ${status} ${text}`;
  }
  if (headers["x-request-id"] === undefined) return "no X-Request-Id";
  if (headers["link"] === undefined) return "no Link";
  const verdict = checker.check({
    method: route.method,
    // Which operation it is has nothing to do with what stands in its place of ids.
    pathname: `/api/v1${route.path.replaceAll(/\{\w+\}/g, "x")}`,
    status,
    headers: headersOf(headers),
    body: text,
  });
  return verdict?.problems.join("; ") || null;
}
