import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, sql } from "@workflow/db";
import { AgentExecutionStatus } from "@workflow/proto/integrations/v1/agent_executions";
import { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import type {
  AgentExecution,
  ExecuteAgentStepRequest,
} from "@workflow/proto/integrations/v1/agent_executions";
import { createRpcClient } from "@workflow/rpc";
import type { Identity } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { createTestAgent, newAsker, startAgentsHarness } from "./support/agents-harness.ts";
import type { AgentsClient, AgentsHarness } from "./support/agents-harness.ts";
import { runsOf } from "./support/actions-harness.ts";

const SECRET = "a-secret-of-the-run-7f3e";

let harness: AgentsHarness;
/** As callers of the API. */
let agents: AgentsClient;
/** As the execution plane, of two replicas. */
let steps: AgentsClient[];

beforeAll(async () => {
  harness = await startAgentsHarness();
  const minter = harness.tokens.serviceMinterTo("integrations", "runs");
  const first = await harness.start();
  ({ agents } = first);
  const replicas = [first, await harness.start()];
  steps = replicas.map(({ address }) => createRpcClient(AgentsServiceService, { address, minter }));
});
afterAll(async () => {
  for (const client of steps) client.close();
  await harness.close();
});

function stepQuestion(
  agentId: string,
  more: Partial<ExecuteAgentStepRequest> = {},
): ExecuteAgentStepRequest {
  return {
    agentId,
    inputJson: '{"document": "Invoice 7"}',
    maskedInputJson: "",
    overrides: undefined,
    idempotencyKey: `${newId("run_")}:ask:1`,
    runId: newId("run_"),
    secrets: [],
    timeoutMs: 0,
    ...more,
  };
}

async function executionsOf(agentId: string, identity: Identity): Promise<AgentExecution[]> {
  const request = { agentId, page: undefined };
  return (await agents.listAgentExecutions(request, { identity })).executions;
}

describe("an idempotency key", () => {
  it("of an answer gives it again, whoever is asked and whatever became of the agent", async () => {
    const identity = newAsker();
    const as = { identity: runsOf(identity.companyId) };
    const agent = await createTestAgent(agents, identity);
    const question = stepQuestion(agent.id);
    harness.openai.script.push("Hello");
    const asked = harness.openai.asked.length;
    const first = await steps[0]?.executeAgentStep(question, as);
    expect(first?.outcome).toEqual({ $case: "outputJson", value: '"Hello"' });
    await agents.deleteAgent({ agentId: agent.id }, { identity });
    expect(await steps[1]?.executeAgentStep(question, as)).toEqual(first);
    expect(harness.openai.asked).toHaveLength(asked + 1);
    expect(await executionsOf(agent.id, identity)).toMatchObject([{ id: first?.executionId }]);
  });

  it("under which somebody asks gives that answer, though the agent is gone meanwhile", async () => {
    const identity = newAsker();
    const as = { identity: runsOf(identity.companyId) };
    const agent = await createTestAgent(agents, identity);
    const question = stepQuestion(agent.id);
    const { promise: answered, resolve: answer } = Promise.withResolvers<string>();
    harness.openai.reply = () => answered;
    const asked = harness.openai.asked.length;
    const first = steps[0]?.executeAgentStep(question, as);
    await waitFor(() => harness.openai.asked.length === asked + 1);
    await agents.deleteAgent({ agentId: agent.id }, { identity });
    const second = steps[1]?.executeAgentStep(question, as);
    // The second has looked for the agent by the time that another question is refused.
    await steps[1]?.executeAgentStep(stepQuestion(agent.id), as);
    answer("Paid.");
    expect((await first)?.outcome).toEqual({ $case: "outputJson", value: '"Paid."' });
    expect(await second).toEqual(await first);
  });

  it("of many questions at the same time asks the provider once", async () => {
    const identity = newAsker();
    const as = { identity: runsOf(identity.companyId) };
    const agent = await createTestAgent(agents, identity);
    const question = stepQuestion(agent.id);
    const asked = harness.openai.asked.length;
    harness.openai.reply = () => `Answer ${harness.openai.asked.length}`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => steps[n % 2]?.executeAgentStep(question, as)),
    );
    expect(new Set(answers.map((each) => JSON.stringify(each)))).toHaveProperty("size", 1);
    expect(harness.openai.asked).toHaveLength(asked + 1);
    const [execution, ...others] = await executionsOf(agent.id, identity);
    expect(others).toEqual([]);
    const used = execution?.usage?.totalTokens;
    expect(await harness.tokensOf(identity)).toEqual({ used, reserved: 0 });
  });

  it("of an answer that does not fit gives that again: it was paid", async () => {
    const identity = newAsker();
    const as = { identity: runsOf(identity.companyId) };
    const outputSchemaJson = '{"type": "object", "required": ["a"]}';
    const agent = await createTestAgent(agents, identity, { outputSchemaJson });
    const question = stepQuestion(agent.id);
    harness.openai.script.push("no", "no", "no");
    const first = await steps[0]?.executeAgentStep(question, as);
    expect(first?.outcome).toMatchObject({ value: { code: "AGENT_OUTPUT_INVALID" } });
    const asked = harness.openai.asked.length;
    expect(await steps[1]?.executeAgentStep(question, as)).toEqual(first);
    expect(harness.openai.asked).toHaveLength(asked);
  });

  it("is free again when the provider gave no answer", async () => {
    const identity = newAsker();
    const as = { identity: runsOf(identity.companyId) };
    const agent = await createTestAgent(agents, identity);
    const question = stepQuestion(agent.id);
    harness.openai.script.push({ trouble: "server-error" }, "Hello");
    const first = await steps[0]?.executeAgentStep(question, as);
    expect(first?.outcome).toMatchObject({ value: { code: "AGENT_UNAVAILABLE" } });
    const second = await steps[0]?.executeAgentStep(question, as);
    expect(second?.outcome).toEqual({ $case: "outputJson", value: '"Hello"' });
    expect(await executionsOf(agent.id, identity)).toMatchObject([
      { status: AgentExecutionStatus.COMPLETED },
      { status: AgentExecutionStatus.FAILED, error: { code: "AGENT_UNAVAILABLE" } },
    ]);
  });

  it("is one company's", async () => {
    const [identity, other] = [newAsker(), newAsker()];
    const idempotencyKey = "the same";
    harness.openai.script.push("One", "Two");
    const outcomes = [];
    for (const each of [identity, other]) {
      const agent = await createTestAgent(agents, each);
      const question = stepQuestion(agent.id, { idempotencyKey });
      const as = { identity: runsOf(each.companyId) };
      outcomes.push((await steps[0]?.executeAgentStep(question, as))?.outcome?.value);
    }
    expect(outcomes).toEqual(['"One"', '"Two"']);
  });
});

describe("a secret of a run", () => {
  it("is in no row, whatever the model or its provider repeats", async () => {
    const identity = newAsker();
    const as = { identity: runsOf(identity.companyId) };
    const outputSchemaJson = '{"type": "object", "additionalProperties": {"type": "string"}}';
    const agent = await createTestAgent(agents, identity, { outputSchemaJson });
    const secret = {
      inputJson: JSON.stringify({ document: `The key is ${SECRET}.` }),
      maskedInputJson: JSON.stringify({ document: "The key is ••••." }),
      userMessage: `Use ${SECRET}`,
      maskedUserMessage: "Use ••••",
      secrets: [SECRET],
    };
    const encoded = Buffer.from(SECRET).toString("base64");
    const cut = `${"x".repeat(190)}${SECRET}${"y".repeat(50)}`;
    harness.openai.script.push(
      JSON.stringify({ key: SECRET, [SECRET]: encoded }),
      { text: `{"cut": "${SECRET.slice(0, -3)}`, ends: "length" },
      { text: SECRET, ends: "refused" },
      { trouble: "server-error", message: `Wrong input: ${SECRET}` },
      { trouble: "server-error", message: cut },
    );
    const outcomes = [];
    for (let n = 0; n < 5; n += 1) {
      outcomes.push(await steps[0]?.executeAgentStep(stepQuestion(agent.id, secret), as));
    }
    expect(outcomes[0]?.outcome).toEqual({
      $case: "outputJson",
      value: JSON.stringify({ key: "••••", "••••": "••••" }),
    });
    // The model was told.
    expect(harness.openai.asked.at(-1)?.messages[0]?.text).toContain(SECRET);
    const rows = await harness.database.any(sql.type(z.object({ row: z.string() }))`
      select execution::text as row from integrations.agent_executions as execution
      where company_id = ${identity.companyId}
    `);
    expect(rows).toHaveLength(5);
    const everything = JSON.stringify([outcomes, rows]) + harness.logged();
    for (const form of [SECRET.slice(0, 8), encoded.slice(0, 12)]) {
      expect(everything).not.toContain(form);
    }
    expect(everything).toContain("••••");
  });
});

describe("a secret of the run in what a model said", () => {
  it.each<[string, { text: string; ends?: "filtered" | "length" }]>([
    ["in escapes of JSON", { text: `{"token": "\\u0061${SECRET.slice(1)}"}` }],
    ["cut through by a filter", { text: `It is ${SECRET.slice(0, -4)}`, ends: "filtered" }],
    ["cut through at maxTokens", { text: `It is ${SECRET.slice(0, -4)}`, ends: "length" }],
  ])("is not kept %s", async (_how, saying) => {
    const identity = newAsker();
    const as = { identity: runsOf(identity.companyId) };
    const agent = await createTestAgent(agents, identity);
    harness.openai.script.push(saying);
    await steps[0]?.executeAgentStep(stepQuestion(agent.id, { secrets: [SECRET] }), as);
    const [listed] = await executionsOf(agent.id, identity);
    const key = { agentId: agent.id, executionId: listed?.id ?? "" };
    const { rawOutput, outputJson } = await agents.getAgentExecution(key, { identity });
    expect(rawOutput).toContain("••••");
    expect(`${rawOutput} ${outputJson}`).not.toContain(SECRET.slice(1, -4));
  });
});
