import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { AppError } from "@workflow/errors";
import type { Reason } from "@workflow/errors";
import { waitFor } from "@workflow/testkit";
import { API_BASE } from "../src/service.ts";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeWorkflow, RUN_ID, WORKFLOW_ID } from "./support/messages.ts";

describe("errors of the services", () => {
  let test: TestGateway;

  beforeAll(async () => {
    test = await startTestGateway();
  });
  afterAll(() => test.close());
  beforeEach(() => {
    test.backends.calls.length = 0;
    test.backends.workflows.getWorkflow = async () => makeWorkflow();
  });

  const path = `${API_BASE}/workflows/${WORKFLOW_ID}`;

  /** A request that a service may refuse with this reason, some of which reads do not know. */
  const refuse = (reason: Reason, error: AppError): readonly [method: string, path: string] => {
    const fail = async (): Promise<never> => {
      throw error;
    };
    test.backends.workflows.getWorkflow = fail;
    test.backends.workflows.activateWorkflow = fail;
    test.backends.runs.cancelRun = fail;
    if (reason === "INVALID_STATE") return ["POST", `${API_BASE}/runs/${RUN_ID}/cancel`];
    const isOfWrites = reason === "VALIDATION_ERROR" || reason === "CONFLICT";
    return isOfWrites ? ["POST", `${path}/activate`] : ["GET", path];
  };

  it.each([
    ["NOT_FOUND", 404],
    ["VALIDATION_ERROR", 400],
    ["INVALID_STATE", 400],
    ["CONFLICT", 409],
    ["UNAVAILABLE", 503],
    ["RATE_LIMITED", 429],
  ] as const)("%s becomes HTTP %d with the message and the details", async (reason, status) => {
    const details = { currentStatus: "x" };
    const [method, at] = refuse(reason, new AppError(reason, "A text for people", { details }));
    const answer = await call(test, method, at, { headers: { "x-request-id": "r1" } });
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      success: false,
      error: { code: reason, message: "A text for people", details, requestId: "r1" },
    });
  });

  it("keep field violations as details", async () => {
    const violations = [{ path: ["steps", "0", "config"], message: "is required" }];
    const error = new AppError("VALIDATION_ERROR", "The definition is not valid.", {
      violations,
    });
    const [method, at] = refuse("VALIDATION_ERROR", error);
    expect((await call(test, method, at)).body).toMatchObject({ error: { details: violations } });
  });

  it("tell nothing about a fault of ours but its request id, and log its cause", async () => {
    test.backends.workflows.getWorkflow = async () => {
      throw new Error("connection string postgres://u:secret@host");
    };
    const answer = await call(test, "GET", path, { headers: { "x-request-id": "fault-1" } });
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      success: false,
      error: {
        code: "INTERNAL_ERROR",
        message: "An internal error occurred.",
        requestId: "fault-1",
      },
    });
    await waitFor(() =>
      test.logLines.some((line) => line["requestId"] === "fault-1" && line["err"] !== undefined),
    );
  });

  it("are not taken for the caller's when a service refuses the gateway itself", async () => {
    test.backends.workflows.getWorkflow = async () => {
      throw new AppError("UNAUTHORIZED", "The access token is not valid.");
    };
    expect((await call(test, "GET", path)).status).toBe(500);
  });

  it("say when to come back", async () => {
    test.backends.workflows.getWorkflow = async () => {
      throw new AppError("UNAVAILABLE", "Later.", { retryAfterMs: 2_500 });
    };
    expect((await call(test, "GET", path)).headers.get("retry-after")).toBe("3");
  });
});
