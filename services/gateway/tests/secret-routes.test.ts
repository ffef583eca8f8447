import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { AppError } from "@workflow/errors";
import { Secret } from "@workflow/proto/integrations/v1/secrets";
import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeWorkflow, WORKFLOW_ID } from "./support/messages.ts";

const PATH = `/api/v1/workflows/${WORKFLOW_ID}/secrets`;
const VALUE = "correct horse battery staple";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

/** What the doubles were asked since the last look. */
function takeCalls() {
  return gateway.backends.calls.splice(0);
}

describe("the routes of secrets", () => {
  it("look for the workflow with the scope that this takes, and act with the caller's own", async () => {
    const { backends } = gateway;
    backends.workflows.getWorkflow = async () => makeWorkflow();
    backends.secrets.createSecret = async ({ key, workflowId }) =>
      Secret.fromPartial({ key, workflowId, maskedValue: "••••aple" });
    takeCalls();
    const body = { key: "TOKEN", value: VALUE };
    const answer = await call(gateway, "POST", PATH, { body });
    expect(answer).toMatchObject({ status: 200, body: { data: { key: "TOKEN" } } });
    expect(takeCalls()).toMatchObject([
      { method: "getWorkflow", request: { workflowId: WORKFLOW_ID } },
      { method: "createSecret", request: { workflowId: WORKFLOW_ID, ...body } },
    ]);
  });

  it("ask the service nothing about a workflow that is archived or not there", async () => {
    const { backends } = gateway;
    for (const [found, status] of [
      [async () => makeWorkflow({ status: WorkflowStatus.ARCHIVED }), 400],
      [async () => Promise.reject(new AppError("NOT_FOUND", "Workflow not found")), 404],
    ] as const) {
      backends.workflows.getWorkflow = found;
      takeCalls();
      const answer = await call(gateway, "POST", PATH, { body: { key: "TOKEN", value: VALUE } });
      expect(answer.status).toBe(status);
      expect(takeCalls().map(({ method }) => method)).toEqual(["getWorkflow"]);
    }
  });

  it("answer 503 while the service is away", async () => {
    const { backends } = gateway;
    backends.workflows.getWorkflow = async () => makeWorkflow();
    backends.secrets.listSecrets = async () => {
      throw new AppError("UNAVAILABLE", "Secrets cannot be read at the moment.");
    };
    expect(await call(gateway, "GET", PATH)).toMatchObject({
      status: 503,
      body: { error: { code: "UNAVAILABLE" } },
    });
  });

  it("leave no value in the gateway's log, whatever comes of the request", async () => {
    const { backends } = gateway;
    backends.workflows.getWorkflow = async () => makeWorkflow();
    const outcomes = [
      new AppError("CONFLICT", "It exists."),
      new AppError("VALIDATION_ERROR", "It is wrong."),
      new AppError("UNAVAILABLE", "Not now."),
      new Error("a fault"),
    ];
    for (const outcome of outcomes) {
      backends.secrets.createSecret = () => Promise.reject(outcome);
      backends.secrets.replaceSecret = () => Promise.reject(outcome);
      await call(gateway, "POST", PATH, { body: { key: "TOKEN", value: VALUE } });
      await call(gateway, "POST", PATH, { body: { key: "token", value: VALUE } });
      await call(gateway, "POST", PATH, { body: `{"key": "TOKEN", "value": "${VALUE}"` });
      await call(gateway, "PUT", `${PATH}/TOKEN`, { body: { value: VALUE } });
    }
    const logged = JSON.stringify(gateway.logLines);
    expect(logged).toContain("/workflows/{workflowId}/secrets");
    expect(logged).not.toContain("horse");
  });
});
