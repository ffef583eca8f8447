import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { AgentExecutionStatus } from "@workflow/proto/integrations/v1/agent_executions";
import type { AgentExecution } from "@workflow/proto/integrations/v1/agent_executions";
import type { Agent } from "@workflow/proto/integrations/v1/agents";
import type { Identity } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import type { ModelTrouble } from "@workflow/testkit";
import {
  createTestAgent,
  newAsker,
  questionTo,
  startAgentsHarness,
} from "./support/agents-harness.ts";
import type { AgentsClient, AgentsHarness } from "./support/agents-harness.ts";
import { errorOf } from "./support/harness.ts";

/** Of an agent whose answers have to be repaired. */
const SCHEMA = '{"type": "object", "required": ["a"]}';
const HANGS = { trouble: "hangs" } as const;

let harness: AgentsHarness;
let agents: AgentsClient;
/** Of a replica that does not wait long for a provider. */
let hasty: AgentsClient;

beforeAll(async () => {
  harness = await startAgentsHarness();
  ({ agents } = await harness.start());
  ({ agents: hasty } = await harness.start({
    agentTimeoutMs: 2_500,
    agentCalls: { tokensPerDay: 1_500 },
  }));
});
afterAll(() => harness.close());

async function onlyExecution(agent: Agent, identity: Identity): Promise<AgentExecution> {
  const page = { agentId: agent.id, page: undefined };
  const { executions } = await agents.listAgentExecutions(page, { identity });
  const [execution] = executions;
  if (execution === undefined || executions.length > 1) throw new Error("not one execution");
  return execution;
}

/** An answer that does not fit. */
function miss(totalTokens: number) {
  return { text: "x", usage: { inputTokens: 20, outputTokens: totalTokens - 20 } };
}

describe("a question that the provider does not answer in time", () => {
  it("counts its prompt and what may have been written, so that a day ends", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(hasty, identity, { maxTokens: 100_000 });
    const asked = harness.openai.asked.length;
    harness.openai.script.push(HANGS, HANGS, HANGS);
    const reasons: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const { reason } = await errorOf(hasty.executeAgent(questionTo(agent), { identity }));
      reasons.push(reason);
    }
    harness.openai.script.length = 0;
    expect(reasons).toEqual(["UPSTREAM_ERROR", "UPSTREAM_ERROR", "RATE_LIMITED"]);
    expect(harness.openai.asked).toHaveLength(asked + 2);
    const { used, reserved } = await harness.tokensOf(identity);
    expect(reserved).toBe(0);
    expect(used).toBeGreaterThanOrEqual(1_500);
  });

  it("in a repair counts that too, and is on record with its usage and the repair", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(hasty, identity, { outputSchemaJson: SCHEMA });
    harness.openai.script.push(miss(40), HANGS);
    await errorOf(hasty.executeAgent(questionTo(agent), { identity }));
    expect(await onlyExecution(agent, identity)).toMatchObject({
      status: AgentExecutionStatus.FAILED,
      error: { code: "AGENT_TIMEOUT" },
      usage: { totalTokens: 40 },
      repairAttempts: 1,
    });
    expect((await harness.tokensOf(identity)).used).toBeGreaterThan(140);
  });
});

it("a question that is given up in a repair counts the answers before", async () => {
  const identity = newAsker();
  const agent = await createTestAgent(agents, identity, { outputSchemaJson: SCHEMA });
  const asked = harness.openai.asked.length;
  harness.openai.script.push(miss(4_920), miss(4_920), HANGS);
  const caller = new AbortController();
  const call = errorOf(agents.executeAgent(questionTo(agent), { identity, signal: caller.signal }));
  await waitFor(() => harness.openai.asked.length === asked + 3);
  caller.abort();
  await call;
  await waitFor(async () => (await harness.callsUnderWay()) === 0);
  expect(await onlyExecution(agent, identity)).toMatchObject({
    status: AgentExecutionStatus.CANCELLED,
    usage: { totalTokens: 9_840 },
    repairAttempts: 2,
  });
  expect((await harness.tokensOf(identity)).used).toBeGreaterThan(9_840);
});

it.each<ModelTrouble>(["resets", "huge", "html", "broken-json"])(
  "an answer that can't be read for %s counts, as a model has written it",
  async (trouble) => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    harness.openai.script.push({ trouble });
    await errorOf(agents.testAgent({ agentId: agent.id, inputJson: "{}" }, { identity }));
    expect((await harness.tokensOf(identity)).used).toBeGreaterThan(0);
  },
);

it("a provider's 408 is a time-out that may be tried again", async () => {
  const identity = newAsker();
  const agent = await createTestAgent(agents, identity);
  harness.openai.script.push({ trouble: "times-out" });
  expect(await errorOf(agents.executeAgent(questionTo(agent), { identity }))).toMatchObject({
    reason: "UPSTREAM_ERROR",
    details: { code: "AGENT_TIMEOUT", status: 408 },
  });
  expect((await harness.tokensOf(identity)).used).toBeGreaterThan(0);
});

it("no error names the host that the operator has set", async () => {
  const identity = newAsker();
  const { host } = new URL(harness.openai.baseUrl);
  const { agents: alone } = await harness.start({
    models: {
      openai: { apiKey: "k".repeat(20), baseUrl: "http://127.0.0.1:9", model: "m", api: "chat" },
      anthropic: { apiKey: undefined, baseUrl: "http://127.0.0.1:9", model: "m" },
    },
  });
  const agent = await createTestAgent(agents, identity);
  harness.openai.script.push({ trouble: "resets" });
  for (const client of [agents, alone]) {
    const { message } = await errorOf(client.executeAgent(questionTo(agent), { identity }));
    expect(message).not.toContain("127.0.0.1");
    expect(message).not.toContain(host);
  }
  expect(await harness.tokensOf(identity)).toMatchObject({ reserved: 0 });
});

it.each([0.5, -5_000, 1e300])(
  "an empty answer for which a server counts %d tokens ends like any other",
  async (outputTokens) => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    const saying = { text: "", usage: { inputTokens: 20, outputTokens } };
    harness.openai.script.push(saying, saying, saying);
    const execution = await agents.executeAgent(questionTo(agent), { identity });
    expect(execution).toMatchObject({
      status: AgentExecutionStatus.FAILED,
      error: { code: "AGENT_OUTPUT_INVALID" },
      usage: { inputTokens: 60, outputTokens: 0, totalTokens: 60 },
    });
    expect(await harness.tokensOf(identity)).toEqual({ used: 60, reserved: 0 });
  },
);
