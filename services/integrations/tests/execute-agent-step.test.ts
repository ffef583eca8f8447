import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import type { ExecuteAgentStepRequest } from "@workflow/proto/integrations/v1/agent_executions";
import type { Agent } from "@workflow/proto/integrations/v1/agents";
import { createRpcClient } from "@workflow/rpc";
import type { Identity } from "@workflow/rpc";
import { runsOf } from "./support/actions-harness.ts";
import { createTestAgent, newAsker, startAgentsHarness } from "./support/agents-harness.ts";
import type { AgentsClient, AgentsHarness } from "./support/agents-harness.ts";

let harness: AgentsHarness;
let agents: AgentsClient;
/** As the execution plane. */
let steps: AgentsClient;
let identity: Identity;
let agent: Agent;

beforeAll(async () => {
  harness = await startAgentsHarness();
  const replica = await harness.start();
  ({ agents } = replica);
  const minter = harness.tokens.serviceMinterTo("integrations", "runs");
  steps = createRpcClient(AgentsServiceService, { address: replica.address, minter });
  identity = newAsker();
  agent = await createTestAgent(agents, identity);
});
afterAll(async () => {
  steps.close();
  await harness.close();
});

let keys = 0;
function question(more: Partial<ExecuteAgentStepRequest> = {}): ExecuteAgentStepRequest {
  keys += 1;
  return {
    agentId: agent.id,
    inputJson: '{"document":"Invoice 7"}',
    maskedInputJson: "",
    overrides: undefined,
    idempotencyKey: `run_1:ask:${keys}`,
    runId: "run_1",
    secrets: [],
    timeoutMs: 0,
    ...more,
  };
}

const ask = (more: Partial<ExecuteAgentStepRequest> = {}) =>
  steps.executeAgentStep(question(more), { identity: runsOf(identity.companyId) });

describe("ExecuteAgentStep", () => {
  it.each<[string, Partial<ExecuteAgentStepRequest>]>([
    ["idempotencyKey", { idempotencyKey: "" }],
    ["idempotencyKey", { idempotencyKey: "k".repeat(501) }],
    ["runId", { runId: "" }],
    ["timeoutMs", { timeoutMs: -1 }],
    ["maskedInputJson", { maskedInputJson: '{"a":"\0"}' }],
    ["maskedUserMessage", { userMessage: "Hi", maskedUserMessage: "\0" }],
  ])("refuses a request with a wrong %s: no step can have sent it", async (path, more) => {
    await expect(ask(more)).rejects.toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: [path] }],
    });
  });

  it.each<[string, string, Partial<ExecuteAgentStepRequest>]>([
    ["too deep", "input", { inputJson: `${'{"a":'.repeat(65)}1${"}".repeat(65)}` }],
    ["no object", "input", { inputJson: "[]" }],
    ["too hot", "overrides.temperature", { overrides: { temperature: 2.1 } }],
    ["of no model", "overrides.model", { overrides: { model: "gpt-2" } }],
  ])("fails the step for good where the question is %s", async (_, path, more) => {
    const asked = harness.openai.requests.length;
    const { outcome, executionId } = await ask(more);
    expect(outcome).toMatchObject({
      $case: "failure",
      value: { code: "INVALID_INPUT", retryable: false },
    });
    expect(JSON.stringify(outcome?.value)).toContain(path.split(".").at(-1));
    expect(executionId).toBe("");
    expect(harness.openai.requests).toHaveLength(asked);
  });

  it("records an empty message as none", async () => {
    const { executionId } = await ask({ userMessage: "" });
    const request = { agentId: agent.id, executionId };
    const execution = await agents.getAgentExecution(request, { identity });
    expect(execution.userMessage).toBeUndefined();
  });

  it("ends when the step's time is over, and may be tried again", async () => {
    harness.openai.script.push({ trouble: "hangs" });
    const { outcome } = await ask({ timeoutMs: 3_000 });
    expect(outcome).toMatchObject({
      $case: "failure",
      value: { code: "AGENT_TIMEOUT", retryable: true },
    });
  });

  it("is for the execution plane alone", async () => {
    await expect(agents.executeAgentStep(question(), { identity })).rejects.toMatchObject({
      reason: "FORBIDDEN",
    });
  });
});
