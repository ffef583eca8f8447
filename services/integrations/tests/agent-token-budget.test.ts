import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  createTestAgent,
  newAsker,
  questionTo,
  startAgentsHarness,
} from "./support/agents-harness.ts";
import type { AgentsClient, AgentsHarness } from "./support/agents-harness.ts";
import { errorOf } from "./support/harness.ts";

const TOKENS_PER_DAY = 1_000;

let harness: AgentsHarness;
/** Two replicas that share a budget. */
let replicas: [AgentsClient, AgentsClient];

beforeAll(async () => {
  harness = await startAgentsHarness();
  const settings = { agentCalls: { tokensPerDay: TOKENS_PER_DAY } };
  const [first, second] = [await harness.start(settings), await harness.start(settings)];
  replicas = [first.agents, second.agents];
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.openai.reply = () => saying(100);
});

function saying(totalTokens: number) {
  return { text: "Hello", usage: { inputTokens: totalTokens - 1, outputTokens: 1 } };
}

describe("AGENT_TOKENS_PER_DAY", () => {
  it("admits while anything is left; beyond it says when the count begins anew", async () => {
    const [agents] = replicas;
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    harness.openai.reply = () => saying(TOKENS_PER_DAY - 1);
    await agents.executeAgent(questionTo(agent), { identity });
    harness.openai.reply = () => saying(500);
    await agents.executeAgent(questionTo(agent), { identity });
    expect(await harness.tokensOf(identity)).toEqual({ used: 1_499, reserved: 0 });
    const asked = harness.openai.asked.length;
    const resetsAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/);
    for (const call of [
      () => agents.executeAgent(questionTo(agent), { identity }),
      () => agents.testAgent({ agentId: agent.id, inputJson: "{}" }, { identity }),
    ]) {
      const error = await errorOf(call());
      expect(error).toMatchObject({
        reason: "RATE_LIMITED",
        message: expect.stringContaining("AGENT_TOKENS_PER_DAY"),
        details: { limit: "agentTokens", tokensPerDay: TOKENS_PER_DAY, resetsAt },
      });
      expect(error.retryAfterMs).toBeGreaterThan(0);
    }
    expect(harness.openai.asked).toHaveLength(asked);
    const page = { agentId: agent.id, page: undefined };
    const { executions } = await agents.listAgentExecutions(page, { identity });
    expect(executions).toHaveLength(2);
  });

  it("is one company's, and a day's", async () => {
    const [agents] = replicas;
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    harness.openai.reply = () => saying(TOKENS_PER_DAY);
    await agents.executeAgent(questionTo(agent), { identity });
    await errorOf(agents.executeAgent(questionTo(agent), { identity }));
    const other = newAsker();
    const theirs = await createTestAgent(agents, other);
    await agents.executeAgent(questionTo(theirs), { identity: other });
    await harness.database.query(sql.type(z.object({}))`
      update integrations.agent_token_days set day = day - 1 where company_id = ${identity.companyId}
    `);
    await agents.executeAgent(questionTo(agent), { identity });
  });

  it("of many questions at once, to whichever replica, goes beyond by one at most", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(replicas[0], identity, { maxTokens: 80 });
    const calls = Array.from({ length: 40 }, (_, n) =>
      replicas[n % 2 === 0 ? 0 : 1].executeAgent(questionTo(agent), { identity }),
    );
    const outcomes = await Promise.allSettled(calls);
    const refused = outcomes.flatMap(({ status, ...rest }) =>
      status === "rejected" && "reason" in rest ? [rest.reason as unknown] : [],
    );
    expect(refused.every((each) => isAppError(each) && each.reason === "RATE_LIMITED")).toBe(true);
    // Each uses 100: the tenth finds 100 left, and nobody else before it has ended.
    expect(outcomes.length - refused.length).toBe(10);
    expect(await harness.tokensOf(identity)).toEqual({ used: 1_000, reserved: 0 });
  });

  it("lets a question wait while only calls under way hold what is left", async () => {
    const [agents] = replicas;
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity, { maxTokens: TOKENS_PER_DAY });
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    harness.openai.reply = async () => {
      await answered;
      return saying(10);
    };
    const asked = harness.openai.asked.length;
    const first = agents.executeAgent(questionTo(agent), { identity });
    await waitFor(() => harness.openai.asked.length > asked);
    const second = agents.executeAgent(questionTo(agent), { identity });
    // Whoever gives up meanwhile holds nothing.
    const third = agents.executeAgent(questionTo(agent), { identity, timeoutMs: 1_000 });
    await expect(third).rejects.toThrow();
    expect(harness.openai.asked).toHaveLength(asked + 1);
    answer();
    await Promise.all([first, second]);
    expect(await harness.tokensOf(identity)).toEqual({ used: 20, reserved: 0 });
  });

  it("counts what attempts before a failure used, and nothing where the provider said nothing", async () => {
    const [agents] = replicas;
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity, {
      outputSchemaJson: '{"type": "object", "required": ["a"]}',
    });
    harness.openai.script.push({ trouble: "server-error" });
    await errorOf(agents.executeAgent(questionTo(agent), { identity }));
    expect(await harness.tokensOf(identity)).toEqual({ used: 0, reserved: 0 });
    harness.openai.script.push(saying(40), { trouble: "overloaded" });
    await errorOf(agents.executeAgent(questionTo(agent), { identity }));
    expect(await harness.tokensOf(identity)).toEqual({ used: 40, reserved: 0 });
  });

  it("is no limit when it is 0", async () => {
    const { agents } = await harness.start({ agentCalls: { tokensPerDay: 0 } });
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    harness.openai.reply = () => saying(10_000_000);
    for (let n = 0; n < 3; n += 1) await agents.executeAgent(questionTo(agent), { identity });
    expect(await harness.tokensOf(identity)).toEqual({ used: 30_000_000, reserved: 0 });
  });
});
