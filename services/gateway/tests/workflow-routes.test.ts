import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { AppError } from "@workflow/errors";
import { WorkflowStatus } from "@workflow/proto/workflows/v1/workflows";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeWorkflow, WORKFLOW_ID } from "./support/messages.ts";

const PATH = `/api/v1/workflows/${WORKFLOW_ID}`;

describe("workflow routes", () => {
  let test: TestGateway;

  beforeAll(async () => {
    test = await startTestGateway();
  });
  afterAll(() => test.close());
  beforeEach(() => {
    test.backends.calls.length = 0;
  });

  const lastRequest = () => test.backends.calls.at(-1)?.request;

  it("GET shows a workflow as the contract has it", async () => {
    test.backends.workflows.getWorkflow = async () =>
      makeWorkflow({
        status: WorkflowStatus.ACTIVE,
        version: 4,
        inputSchemaJson: '{"type":"object"}',
      });
    const answer = await call(test, "GET", PATH);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      data: {
        id: WORKFLOW_ID,
        name: "Orders",
        status: "active",
        version: 4,
        trigger: { type: "api" },
        steps: [],
        inputSchema: { type: "object" },
        outputSchema: null,
        settings: null,
        createdAt: "2026-03-01T10:00:00.120Z",
        updatedAt: "2026-03-01T10:00:00.120Z",
      },
    });
  });

  it("GET shows description and clonedFrom when there are any", async () => {
    test.backends.workflows.getWorkflow = async () =>
      makeWorkflow({ description: "text", clonedFrom: WORKFLOW_ID });
    expect((await call(test, "GET", PATH)).body).toMatchObject({
      data: { description: "text", clonedFrom: WORKFLOW_ID },
    });
  });

  it("GET hands any id to the service, so that malformed and unknown ones look the same", async () => {
    test.backends.workflows.getWorkflow = async () => {
      throw new AppError("NOT_FOUND", "Workflow not found");
    };
    const answers = await Promise.all(
      ["not-a-uuid", WORKFLOW_ID, "a%2Fb"].map((id) =>
        call(test, "GET", `/api/v1/workflows/${id}`, { headers: { "x-request-id": "same" } }),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
  });

  it("GET lists workflows with filters and a page", async () => {
    test.backends.workflows.listWorkflows = async () => ({
      workflows: [makeWorkflow(), makeWorkflow({ name: "Second" })],
      page: { cursor: "next", hasMore: true },
    });
    const answer = await call(
      test,
      "GET",
      "/api/v1/workflows?status=archived&search=a+%25b&limit=2&cursor=c1",
    );
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      data: [{ name: "Orders" }, { name: "Second" }],
      meta: { cursor: "next", hasMore: true },
    });
    expect(lastRequest()).toEqual({
      status: WorkflowStatus.ARCHIVED,
      search: "a %b",
      page: { limit: 2, cursor: "c1" },
    });
  });

  it("GET lists 50 by default and says null for the cursor of the last page", async () => {
    test.backends.workflows.listWorkflows = async () => ({
      workflows: [],
      page: { cursor: "", hasMore: false },
    });
    const answer = await call(test, "GET", "/api/v1/workflows");
    expect(answer.body).toEqual({
      success: true,
      data: [],
      meta: { cursor: null, hasMore: false },
    });
    expect(lastRequest()).toMatchObject({ page: { limit: 50, cursor: "" } });
  });

  it("PUT names what is given in the mask and clears with null", async () => {
    test.backends.workflows.updateWorkflow = async () => makeWorkflow({ version: 2 });
    const answer = await call(test, "PUT", PATH, {
      body: '{"name":"New","description":null,"steps":[ 1 ],"settings":null,"changeSummary":"why"}',
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ data: { version: 2 } });
    expect(lastRequest()).toMatchObject({
      workflowId: WORKFLOW_ID,
      updateMask: ["name", "description", "steps_json", "settings_json"],
      name: "New",
      stepsJson: "[ 1 ]",
      changeSummary: "why",
    });
    expect(lastRequest()).toMatchObject({ description: undefined, settingsJson: undefined });
  });

  it("PUT with nothing changes nothing, and ignores what may not be set", async () => {
    test.backends.workflows.updateWorkflow = async () => makeWorkflow();
    for (const body of [undefined, {}, { status: "active", version: 7, id: "x", unknown: 1 }]) {
      expect((await call(test, "PUT", PATH, { body })).status).toBe(200);
      expect(lastRequest()).toMatchObject({ updateMask: [] });
    }
  });

  it.each([
    { name: null },
    { name: "" },
    { name: "" },
    { name: "x".repeat(256) },
    { trigger: null },
    { steps: null },
    { steps: {} },
    { inputSchema: true },
    { settings: [] },
    { changeSummary: 1 },
  ])("PUT refuses %j", async (body) => {
    const answer = await call(test, "PUT", PATH, { body });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { details: [{ path: Object.keys(body) }] } });
    expect(test.backends.calls).toEqual([]);
  });

  it("takes names of 255 characters, whatever their encoding", async () => {
    test.backends.workflows.updateWorkflow = async () => makeWorkflow();
    const answer = await call(test, "PUT", PATH, { body: { name: "😀".repeat(255) } });
    expect(answer.status).toBe(200);
  });

  it("activate, pause and delete answer exactly what the contract says", async () => {
    const { workflows } = test.backends;
    workflows.activateWorkflow = async () => makeWorkflow({ status: WorkflowStatus.ACTIVE });
    workflows.pauseWorkflow = async () => makeWorkflow({ status: WorkflowStatus.PAUSED });
    workflows.archiveWorkflow = async () => makeWorkflow({ status: WorkflowStatus.ARCHIVED });
    const activated = await call(test, "POST", `${PATH}/activate`);
    expect([activated.status, activated.body]).toEqual([
      200,
      { success: true, data: { id: WORKFLOW_ID, status: "active" } },
    ]);
    const paused = await call(test, "POST", `${PATH}/pause`);
    expect([paused.status, paused.body]).toEqual([
      200,
      { success: true, data: { id: WORKFLOW_ID, status: "paused" } },
    ]);
    const deleted = await call(test, "DELETE", PATH);
    expect([deleted.status, deleted.body]).toEqual([
      200,
      { success: true, data: { deleted: true } },
    ]);
  });

  it("passes the details of a refused transition through", async () => {
    const details = {
      currentStatus: "archived",
      targetStatus: "active",
      allowedTransitions: [],
    };
    test.backends.workflows.activateWorkflow = async () => {
      throw new AppError("BAD_REQUEST", "Not possible", { details });
    };
    const answer = await call(test, "POST", `${PATH}/activate`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { code: "BAD_REQUEST", details } });
  });
});
