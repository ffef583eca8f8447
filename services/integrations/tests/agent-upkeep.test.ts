import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { firstIdAt, sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  createTestAgent,
  newAsker,
  questionTo,
  startAgentsHarness,
} from "./support/agents-harness.ts";
import type { AgentsHarness } from "./support/agents-harness.ts";

const DAY_MS = 24 * 60 * 60_000;
const nothing = z.object({});

let harness: AgentsHarness;

beforeAll(async () => {
  harness = await startAgentsHarness();
  harness.openai.reply = () => "Hello";
});
afterAll(() => harness.close());

/** An execution of so many days ago, and one of now. */
async function makeOldAndNew(days: number) {
  const { agents } = await harness.start();
  const identity = newAsker();
  const agent = await createTestAgent(agents, identity);
  const old = await agents.executeAgent(questionTo(agent), { identity });
  const oldId = firstIdAt("aex_", new Date(Date.now() - days * DAY_MS));
  await harness.database.query(sql.type(nothing)`
    update integrations.agent_executions set id = ${oldId} where id = ${old.id}
  `);
  const { id } = await agents.executeAgent(questionTo(agent), { identity });
  const list = async (): Promise<string[]> => {
    const request = { agentId: agent.id, page: undefined };
    const { executions } = await agents.listAgentExecutions(request, { identity });
    return executions.map((each) => each.id);
  };
  return { identity, id, oldId, list };
}

it("executions are kept for AGENT_EXECUTION_RETENTION_DAYS, and for ever when that is 0", async () => {
  const { id, oldId, list } = await makeOldAndNew(31);
  const younger = await makeOldAndNew(29);
  await harness.start({ agentCalls: { retentionDays: 0 } });
  await harness.start({ agentCalls: { retentionDays: 30 } });
  await waitFor(async () => (await list()).length === 1);
  expect(await list()).toEqual([id]);
  expect(await list()).not.toContain(oldId);
  expect(await younger.list()).toEqual([younger.id, younger.oldId]);
});

it("tokens of days that are long over are forgotten, those of others are not", async () => {
  const [old, recent] = [await makeOldAndNew(0), await makeOldAndNew(0)];
  const age = async (companyId: string, days: number) =>
    harness.database.query(sql.type(nothing)`
      update integrations.agent_token_days set day = day - ${days}::integer
      where company_id = ${companyId}
    `);
  await age(old.identity.companyId, 8);
  await age(recent.identity.companyId, 7);
  await harness.start();
  await waitFor(async () => (await harness.tokensOf(old.identity)).used === 0);
  expect((await harness.tokensOf(recent.identity)).used).toBeGreaterThan(0);
});
