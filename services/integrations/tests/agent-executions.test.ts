import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { AgentExecutionStatus } from "@workflow/proto/integrations/v1/agent_executions";
import type { AgentExecution } from "@workflow/proto/integrations/v1/agent_executions";
import {
  createTestAgent,
  MODELS,
  newAsker,
  questionTo,
  startAgentsHarness,
} from "./support/agents-harness.ts";
import type { AgentsClient, AgentsHarness } from "./support/agents-harness.ts";
import { errorOf } from "./support/harness.ts";

const SCHEMA = JSON.stringify({
  type: "object",
  properties: { total: { type: "number" } },
  required: ["total"],
  additionalProperties: false,
});

let harness: AgentsHarness;
let agents: AgentsClient;

beforeAll(async () => {
  harness = await startAgentsHarness();
  ({ agents } = await harness.start());
});
afterAll(() => harness.close());

describe("an execution", () => {
  it("is recorded with everything that was asked and answered", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity, { outputSchemaJson: SCHEMA });
    harness.openai.script.push({
      text: '{"total": 7.50}',
      usage: { inputTokens: 120, outputTokens: 30 },
    });
    const request = questionTo(agent, {
      inputJson: '{"document": "Invoice 7", "amount": 7.50}',
      userMessage: "Be brief.",
      workflowRunId: "run_1",
    });
    const execution = await agents.executeAgent(request, { identity });
    expect(execution).toEqual({
      id: expect.stringMatching(/^aex_[0-9a-z]{26}$/),
      agentId: agent.id,
      agentVersion: 1,
      status: AgentExecutionStatus.COMPLETED,
      inputJson: '{"document": "Invoice 7", "amount": 7.50}',
      userMessage: "Be brief.",
      outputJson: expect.any(String),
      rawOutput: '{"total": 7.50}',
      provider: "openai",
      model: MODELS.openai,
      usage: { inputTokens: 120, outputTokens: 30, totalTokens: 150 },
      durationMs: expect.any(Number),
      finishReason: "stop",
      schemaValid: true,
      repairAttempts: 0,
      workflowRunId: "run_1",
      createdAt: expect.any(Date),
      warnings: [],
    });
    expect(JSON.parse(execution.outputJson ?? "")).toEqual({ total: 7.5 });
    const { id: executionId } = execution;
    expect(
      await agents.getAgentExecution({ agentId: agent.id, executionId }, { identity }),
    ).toEqual(execution);
    const { inputJson, userMessage, outputJson, rawOutput, ...listed } = execution;
    expect([inputJson, userMessage, outputJson, rawOutput]).not.toContain(undefined);
    const page = await agents.listAgentExecutions(
      { agentId: agent.id, page: undefined },
      { identity },
    );
    expect(page.executions).toEqual([listed]);
    expect(await harness.tokensOf(identity)).toEqual({ used: 150, reserved: 0 });
  });

  it("counts the tokens of repairs, and tells the version that was asked", async () => {
    const identity = newAsker();
    const { id } = await createTestAgent(agents, identity, { outputSchemaJson: SCHEMA });
    const agent = await agents.updateAgent({ agentId: id, type: 0, temperature: 0 }, { identity });
    const usage = { inputTokens: 10, outputTokens: 5 };
    harness.openai.script.push({ text: '{"total": "?"}', usage }, { text: '{"total": 1}', usage });
    const execution = await agents.executeAgent(questionTo(agent), { identity });
    expect(execution).toMatchObject({
      agentVersion: 2,
      status: AgentExecutionStatus.COMPLETED,
      schemaValid: true,
      repairAttempts: 1,
      usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 },
    });
    expect(await harness.tokensOf(identity)).toEqual({ used: 30, reserved: 0 });
  });

  it("of an answer that never fits has failed, with the answer", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity, { outputSchemaJson: SCHEMA });
    harness.openai.script.push("no", "no", "still no");
    const execution = await agents.executeAgent(questionTo(agent), { identity });
    expect(execution).toMatchObject({
      status: AgentExecutionStatus.FAILED,
      rawOutput: "still no",
      schemaValid: false,
      repairAttempts: 2,
      error: { code: "AGENT_OUTPUT_INVALID" },
    });
    expect(execution.outputJson).toBeUndefined();
  });

  it("may be one of a core agent, and of either provider", async () => {
    const identity = newAsker();
    harness.openai.reply = () => JSON.stringify({ decision: "yes" });
    const core = await agents.executeAgent(
      questionTo(
        { id: "agent_decision" },
        { inputJson: '{"data": {"amount": 7}, "decisionType": "classification"}' },
      ),
      { identity },
    );
    expect(core).toMatchObject({ agentId: "agent_decision", provider: "openai" });
    const agent = await createTestAgent(agents, identity, { provider: "anthropic" });
    harness.anthropic.script.push("Hello");
    const own = await agents.executeAgent(questionTo(agent), { identity });
    expect(own).toMatchObject({
      provider: "anthropic",
      model: MODELS.anthropic,
      outputJson: '"Hello"',
      schemaValid: true,
    });
  });

  it("takes overrides in place of the agent's settings", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    harness.openai.script.push("Hello");
    const overrides = { maxTokens: 77, temperature: 0.5, model: MODELS.openai };
    await agents.executeAgent(questionTo(agent, { overrides }), { identity });
    expect(harness.openai.asked.at(-1)?.body).toMatchObject({
      max_completion_tokens: 77,
      temperature: 0.5,
    });
  });
});

describe("a test", () => {
  it("answers the same, leaves no record, and its tokens count", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    harness.openai.script.push({ text: "Hello", usage: { inputTokens: 3, outputTokens: 4 } });
    const { overrides: _none, ...request } = questionTo(agent);
    expect(await agents.testAgent(request, { identity })).toEqual({
      outputJson: '"Hello"',
      rawOutput: "Hello",
      usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
      durationMs: expect.any(Number),
      schemaValid: true,
      repairAttempts: 0,
      warnings: [],
      finishReason: "stop",
    });
    const page = await agents.listAgentExecutions(
      { agentId: agent.id, page: undefined },
      { identity },
    );
    expect(page.executions).toEqual([]);
    expect(await harness.tokensOf(identity)).toEqual({ used: 7, reserved: 0 });
  });

  it("is not for core agents", async () => {
    const call = agents.testAgent(
      { agentId: "agent_content", inputJson: "{}" },
      { identity: newAsker() },
    );
    expect(await errorOf(call)).toMatchObject({ reason: "BAD_REQUEST" });
  });
});

describe("the list of executions", () => {
  it("goes by pages, newest first, and its cursor is good for this list only", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    const other = await createTestAgent(agents, identity, { name: "Other" });
    harness.openai.reply = () => "Hello";
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      made.unshift((await agents.executeAgent(questionTo(agent), { identity })).id);
    }
    await agents.executeAgent(questionTo(other), { identity });
    const listed: AgentExecution[] = [];
    let cursor = "";
    for (let hasMore = true; hasMore;) {
      const { executions, page } = await agents.listAgentExecutions(
        { agentId: agent.id, page: { limit: 2, cursor } },
        { identity },
      );
      listed.push(...executions);
      ({ cursor = "", hasMore = false } = page ?? {});
      if (hasMore) {
        const elsewhere = agents.listAgentExecutions(
          { agentId: other.id, page: { limit: 2, cursor } },
          { identity },
        );
        expect(await errorOf(elsewhere)).toMatchObject({ reason: "BAD_REQUEST" });
      }
    }
    expect(listed.map(({ id }) => id)).toEqual(made);
  });

  it.each([-1, 101])("refuses a limit of %d", async (limit) => {
    const call = agents.listAgentExecutions(
      { agentId: "agent_content", page: { limit, cursor: "" } },
      { identity: newAsker() },
    );
    expect(await errorOf(call)).toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path: ["limit"] }],
    });
  });
});
