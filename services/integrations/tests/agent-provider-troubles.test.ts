import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { AgentExecutionStatus } from "@workflow/proto/integrations/v1/agent_executions";
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

let harness: AgentsHarness;
let agents: AgentsClient;
/** Of a replica that does not wait long for a provider. */
let hasty: AgentsClient;

beforeAll(async () => {
  harness = await startAgentsHarness();
  ({ agents } = await harness.start());
  ({ agents: hasty } = await harness.start({ agentTimeoutMs: 2_500 }));
});
afterAll(() => harness.close());

/** The last says whether a model may have written something. */
const TROUBLES: [ModelTrouble, string, boolean][] = [
  ["unauthorized", "AGENT_REFUSED", false],
  ["rate-limited", "AGENT_RATE_LIMITED", false],
  ["server-error", "AGENT_UNAVAILABLE", false],
  ["overloaded", "AGENT_UNAVAILABLE", false],
  ["redirects", "AGENT_UNAVAILABLE", false],
  ["resets", "AGENT_UNAVAILABLE", true],
  ["hangs", "AGENT_TIMEOUT", true],
  ["broken-json", "AGENT_UNAVAILABLE", true],
];

it("what a provider refuses as wrong is the caller's to mend", async () => {
  for (const provider of ["openai", "anthropic"] as const) {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity, { provider });
    harness[provider].script.push({ trouble: "invalid-request" });
    expect(await errorOf(agents.executeAgent(questionTo(agent), { identity }))).toMatchObject({
      reason: "BAD_REQUEST",
      details: { provider, status: 400, code: "AGENT_REFUSED" },
    });
  }
});

describe.each(["openai", "anthropic"] as const)("without an answer of %s", (provider) => {
  it.each(TROUBLES)(
    "because of %s it is asked once, and that is on record as %s",
    async (trouble, code, mayHaveCost) => {
      const identity = newAsker();
      const agent = await createTestAgent(agents, identity, { provider });
      const double = harness[provider];
      const before = double.requests.length;
      double.script.push({ trouble });
      const asked = trouble === "hangs" ? hasty : agents;
      const error = await errorOf(asked.executeAgent(questionTo(agent), { identity }));
      expect(error).toMatchObject({
        reason: "UPSTREAM_ERROR",
        details: { provider, code, executionId: expect.stringMatching(/^aex_/) },
      });
      expect(double.requests).toHaveLength(before + 1);
      expect(error.message).not.toContain(double.key);
      const { executions } = await agents.listAgentExecutions(
        { agentId: agent.id, page: undefined },
        { identity },
      );
      expect(executions).toMatchObject([
        {
          status: AgentExecutionStatus.FAILED,
          usage: { totalTokens: 0 },
          repairAttempts: 0,
          error: { code, message: error.message },
        },
      ]);
      expect(executions[0]?.durationMs).toBeGreaterThanOrEqual(0);
      expect(executions[0]?.schemaValid).toBeUndefined();
      const { used, reserved } = await harness.tokensOf(identity);
      expect({ counts: used > 0, reserved }).toEqual({ counts: mayHaveCost, reserved: 0 });
    },
  );

  it("hands on how long it wants to be left alone", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity, { provider });
    harness[provider].script.push({ trouble: "rate-limited", headers: { "retry-after": "7" } });
    const error = await errorOf(agents.executeAgent(questionTo(agent), { identity }));
    expect(error).toMatchObject({ details: { status: 429 }, retryAfterMs: 7_000 });
  });
});

describe("questions under way", () => {
  it("are 200 of one company at a time in a process; others still find a place", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    const { agents: patient } = await harness.start();
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    harness.openai.reply = async () => {
      await answered;
      return "Hello";
    };
    let refusals = 0;
    const calls = Array.from({ length: 205 }, async () => {
      try {
        await patient.executeAgent(questionTo(agent), { identity });
      } catch (error) {
        expect(error).toMatchObject({
          reason: "RATE_LIMITED",
          details: { limit: "agentCalls" },
          retryAfterMs: 1_000,
        });
        refusals += 1;
        // Who is refused is told at once, long before anybody is answered.
        if (refusals === 5) {
          const other = newAsker();
          const theirs = await createTestAgent(patient, other, { provider: "anthropic" });
          harness.anthropic.script.push("Hello");
          await patient.executeAgent(questionTo(theirs), { identity: other });
          answer();
        }
      }
    });
    await Promise.all(calls);
    expect(refusals).toBe(5);
    expect(await harness.callsUnderWay()).toBe(0);
  });

  it("are 16 of 1 MiB of one company, as memory is what they take", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    const { agents: patient } = await harness.start();
    const { promise: answered, resolve: answer } = Promise.withResolvers<string>();
    harness.openai.reply = () => answered;
    const large = questionTo(agent, {
      inputJson: JSON.stringify({ document: "x".repeat(1_040_000) }),
    });
    const before = harness.openai.asked.length;
    const calls = Array.from({ length: 16 }, () => patient.executeAgent(large, { identity }));
    await waitFor(() => harness.openai.asked.length === before + 16, { timeoutMs: 60_000 });
    for (const call of [
      patient.executeAgent(large, { identity }),
      patient.testAgent({ agentId: agent.id, inputJson: large.inputJson }, { identity }),
    ]) {
      expect(await errorOf(call)).toMatchObject({
        reason: "RATE_LIMITED",
        details: { limit: "agentCalls", bytesMax: 16 * 1024 * 1024 },
      });
    }
    answer("Hello");
    await Promise.all(calls);
  });
});
