import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, newUuid } from "@workflow/db";
import type { ExecuteAgentRequest } from "@workflow/proto/integrations/v1/agent_executions";
import {
  createTestAgent,
  newAsker,
  questionTo,
  startAgentsHarness,
} from "./support/agents-harness.ts";
import type { AgentsClient, AgentsHarness } from "./support/agents-harness.ts";
import { errorOf } from "./support/harness.ts";

let harness: AgentsHarness;
let agents: AgentsClient;

beforeAll(async () => {
  harness = await startAgentsHarness();
  ({ agents } = await harness.start());
  harness.openai.reply = () => "Hello";
});
afterAll(() => harness.close());

describe("a question", () => {
  it.each<[string, Partial<ExecuteAgentRequest>, string[]]>([
    ["an input that is no object", { inputJson: "[]" }, ["input"]],
    ["an input that is no JSON", { inputJson: "{" }, ["input"]],
    ["an input with NUL", { inputJson: String.raw`{"a": "\u0000"}` }, ["input"]],
    ["a long user message", { userMessage: "x".repeat(100_001) }, ["userMessage"]],
    ["a long run id", { workflowRunId: "x".repeat(129) }, ["workflowRunId"]],
    ["a hot temperature", { overrides: { temperature: 2.1 } }, ["overrides", "temperature"]],
    ["no tokens", { overrides: { maxTokens: 0 } }, ["overrides", "maxTokens"]],
    ["another's model", { overrides: { model: "claude-sonnet-5-5" } }, ["overrides", "model"]],
  ])("with %s is refused by name and leaves no record", async (_what, more, path) => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    const call = agents.executeAgent(questionTo(agent, more), { identity });
    expect(await errorOf(call)).toMatchObject({
      reason: "BAD_REQUEST",
      violations: [{ path, message: expect.any(String) }],
    });
    const { executions } = await agents.listAgentExecutions(
      { agentId: agent.id, page: undefined },
      { identity },
    );
    expect(executions).toEqual([]);
    expect(await harness.tokensOf(identity)).toEqual({ used: 0, reserved: 0 });
  });

  it("with more than a MiB of input is too large", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    const inputJson = JSON.stringify({ document: "x".repeat(1024 * 1024) });
    const call = agents.executeAgent(questionTo(agent, { inputJson }), { identity });
    expect(await errorOf(call)).toMatchObject({ reason: "PAYLOAD_TOO_LARGE" });
  });

  it("to an agent that is deprecated is refused, and its executions stay", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    const execution = await agents.executeAgent(questionTo(agent), { identity });
    await agents.deleteAgent({ agentId: agent.id }, { identity });
    for (const call of [
      () => agents.executeAgent(questionTo(agent), { identity }),
      () => agents.testAgent({ agentId: agent.id, inputJson: "{}" }, { identity }),
    ]) {
      expect(await errorOf(call())).toMatchObject({ reason: "BAD_REQUEST" });
    }
    const page = await agents.listAgentExecutions(
      { agentId: agent.id, page: undefined },
      { identity },
    );
    expect(page.executions.map(({ id }) => id)).toEqual([execution.id]);
  });

  it.each([
    ["an unknown id", newUuid()],
    ["no id", "nobody"],
    ["an unknown core agent", "agent_nobody"],
  ])("to %s finds nothing", async (_what, agentId) => {
    const identity = newAsker();
    for (const call of [
      () => agents.executeAgent(questionTo({ id: agentId }), { identity }),
      () => agents.testAgent({ agentId, inputJson: "{}" }, { identity }),
      () => agents.listAgentExecutions({ agentId, page: undefined }, { identity }),
      () => agents.getAgentExecution({ agentId, executionId: newId("aex_") }, { identity }),
    ]) {
      expect(await errorOf(call())).toMatchObject({ reason: "NOT_FOUND" });
    }
  });

  it("is between a company and its own agents; executions of core agents are its own too", async () => {
    const [identity, stranger] = [newAsker(), newAsker()];
    const agent = await createTestAgent(agents, identity);
    const { id: executionId } = await agents.executeAgent(questionTo(agent), { identity });
    const core = questionTo(
      { id: "agent_transform" },
      { inputJson: '{"data": {}, "mappingRules": ["a to b"]}' },
    );
    const ofCore = await agents.executeAgent(core, { identity });
    for (const call of [
      () => agents.executeAgent(questionTo(agent), { identity: stranger }),
      () => agents.testAgent({ agentId: agent.id, inputJson: "{}" }, { identity: stranger }),
      () =>
        agents.listAgentExecutions({ agentId: agent.id, page: undefined }, { identity: stranger }),
      () => agents.getAgentExecution({ agentId: agent.id, executionId }, { identity: stranger }),
      () =>
        agents.getAgentExecution(
          { agentId: "agent_transform", executionId: ofCore.id },
          { identity: stranger },
        ),
      // One of another agent is not there either.
      () => agents.getAgentExecution({ agentId: "agent_transform", executionId }, { identity }),
    ]) {
      expect(await errorOf(call())).toMatchObject({ reason: "NOT_FOUND" });
    }
    const listOf = async (as: typeof identity) => {
      const request = { agentId: "agent_transform", page: undefined };
      const { executions } = await agents.listAgentExecutions(request, { identity: as });
      return executions.map(({ id }) => id);
    };
    expect(await listOf(identity)).toEqual([ofCore.id]);
    expect(await listOf(stranger)).toEqual([]);
  });

  it("without a key of the provider names the setting, and leaves no record", async () => {
    const identity = newAsker();
    const bare = await harness.start({ models: undefined });
    const agent = await createTestAgent(bare.agents, identity);
    const call = bare.agents.executeAgent(questionTo(agent), { identity });
    expect(await errorOf(call)).toMatchObject({
      reason: "NOT_CONFIGURED",
      message: expect.stringContaining("OPENAI_API_KEY"),
    });
    const { executions } = await agents.listAgentExecutions(
      { agentId: agent.id, page: undefined },
      { identity },
    );
    expect(executions).toEqual([]);
  });
});
