import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeStarted, RUN_ID, WORKFLOW_ID } from "./support/messages.ts";

const PATH = `/api/v1/workflows/${WORKFLOW_ID}/run`;
const CALLS = 60;

describe("starts that arrive together", () => {
  let test: TestGateway;
  const seen: { input: string; requestId: string | undefined; batch: boolean }[] = [];

  beforeAll(async () => {
    test = await startTestGateway();
    const note = (inputJson: string | undefined, requestId: string | undefined, batch: boolean) => {
      seen.push({ input: inputJson ?? "", requestId, batch });
    };
    test.backends.runs.startRun = async (request, context) => {
      note(request.inputJson, context.requestId, false);
      return makeStarted({ id: RUN_ID });
    };
    test.backends.runs.startRuns = async ({ requests }) => ({
      results: requests.map((request, index) => {
        note(request.inputJson, request.requestId, true);
        if (index % 2 === 0) return { started: makeStarted({ id: RUN_ID }), failure: undefined };
        const failure = {
          reason: "VALIDATION_ERROR",
          message: "The input does not fit.",
          violations: [{ path: ["n"], message: request.inputJson ?? "" }],
          detailsJson: "",
          retryAfterMs: 0,
        };
        return { started: undefined, failure };
      }),
    });
  });
  afterAll(() => test.close());

  it("each get their own answer, as if they had come alone", async () => {
    const answers = await Promise.all(
      Array.from({ length: CALLS }, async (_, n) => {
        const headers = { "x-request-id": `start-${n}` };
        return { n, answer: await call(test, "POST", PATH, { body: { input: { n } }, headers }) };
      }),
    );
    for (const { n, answer } of answers) {
      expect([202, 400]).toContain(answer.status);
      if (answer.status === 202) continue;
      expect(answer.body).toMatchObject({
        error: {
          code: "VALIDATION_ERROR",
          details: [{ path: ["n"], message: JSON.stringify({ n }) }],
          requestId: `start-${n}`,
        },
      });
    }
    expect(seen).toHaveLength(CALLS);
    expect(new Set(seen.map(({ input }) => input)).size).toBe(CALLS);
    for (const { input, requestId } of seen) {
      expect(input).toBe(JSON.stringify({ n: Number(requestId?.slice("start-".length)) }));
    }
  });
});
