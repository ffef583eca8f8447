import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { startOpenAiDouble, waitFor } from "@workflow/testkit";
import type { ModelDouble } from "@workflow/testkit";
import { z } from "zod";
import { startSeparateSystem } from "../support/separate-system.ts";
import type { SeparateSystem } from "../support/separate-system.ts";

const scope = createScope();
let openai: ModelDouble;
let system: SeparateSystem;
let database: Database;
let workflowId: string;

beforeAll(async () => {
  openai = await startOpenAiDouble();
  scope.defer(() => openai.close());
  system = await startSeparateSystem({
    integrations: {
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
      OPENAI_MODEL: "gpt-test",
    },
  });
  scope.defer(() => system.stop());
  database = await openDatabase({ connectionUri: system.databaseUri, applicationName: "test" });
  scope.defer(() => database.end());
  workflowId = await activeWorkflow();
});
beforeEach(() => {
  openai.asked.length = 0;
});
afterAll(() => scope.close());

describe("kill -9 of the worker that waits for an agent's answer", () => {
  it("has the answer that was recorded given again: the provider is asked once", async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<string>();
    openai.reply = () => answered;
    const runId = await startRun();
    await waitFor(() => openai.asked.length === 1);
    // Its call goes on, and it cannot write what comes of it.
    await system.kill("runs-worker", "SIGSTOP");
    answer("The only answer.");
    await waitFor(async () => (await statusesOf(runId)).includes("completed"));
    await system.kill("runs-worker", "SIGKILL");
    await system.start("runs-worker");
    expect(await outputOf(runId)).toBe("The only answer.");
    expect(openai.asked).toHaveLength(1);
    expect(await statusesOf(runId)).toEqual(["completed"]);
  });

  it("ends the request to the provider, and the next worker asks anew", async () => {
    openai.reply = () => (openai.asked.length === 1 ? new Promise(() => {}) : "The second answer.");
    const runId = await startRun();
    await waitFor(() => openai.asked.length === 1);
    await system.kill("runs-worker", "SIGKILL");
    await waitFor(() => openai.asked[0]?.hungUp === true);
    await system.start("runs-worker");
    expect(await outputOf(runId)).toBe("The second answer.");
    expect(openai.asked).toHaveLength(2);
    expect(await statusesOf(runId)).toEqual(["cancelled", "completed"]);
  });
});

describe("kill -9 of the service that waits for an agent's answer", () => {
  it("does not fail the step: once the dead call is ended the provider is asked anew", async () => {
    openai.reply = () => (openai.asked.length === 1 ? new Promise(() => {}) : "The second answer.");
    const runId = await startRun();
    await waitFor(() => openai.asked.length === 1);
    await system.kill("integrations", "SIGKILL");
    await system.start("integrations");
    expect(await outputOf(runId)).toBe("The second answer.");
    expect(openai.asked).toHaveLength(2);
    expect(await statusesOf(runId)).toEqual(["failed", "completed"]);
  });
});

async function activeWorkflow(): Promise<string> {
  const agent = await system.call("POST", "/agents", {
    name: "Writer",
    type: "content",
    systemPrompt: "Write.",
  });
  expect(agent.status).toBe(201);
  const config = { agentId: agent.body.data["id"], input: { text: "Hello" } };
  const created = await system.call("POST", "/workflows", {
    name: "Asks",
    trigger: { type: "api" },
    steps: [{ id: "ask", type: "agent", name: "ask", config }],
  });
  expect(created.status).toBe(201);
  const id = String(created.body.data["id"]);
  expect((await system.call("POST", `/workflows/${id}/activate`)).status).toBe(200);
  return id;
}

async function startRun(): Promise<string> {
  const started = await system.call("POST", `/workflows/${workflowId}/run`, { input: {} });
  expect(started.status).toBe(202);
  return String(started.body.data["run_id"]);
}

/** The output of a run, once it has completed. */
async function outputOf(runId: string): Promise<unknown> {
  const run = await waitFor(
    async () => {
      const { data } = (await system.call("GET", `/runs/${runId}`)).body;
      return data["status"] === "completed" || data["status"] === "failed" ? data : null;
    },
    { timeoutMs: 100_000, what: "the run to end" },
  );
  expect(run).toMatchObject({ status: "completed", error: null });
  return run["output"];
}

const execution = z.object({ status: z.string() });

/** How the executions of agents stand that a run has caused, oldest first. */
async function statusesOf(runId: string): Promise<string[]> {
  const rows = await database.any(sql.type(execution)`
    select status from integrations.agent_executions
    where workflow_run_id = ${runId}
    order by created_at, id
  `);
  return rows.map(({ status }) => status);
}
