import { expect } from "@jest/globals";
import { z } from "zod";
import { makeAgent } from "../../support/agents.ts";
import type { WholeSystem } from "../../support/whole-system.ts";
import { MISSING_PROMPT, TROUBLES, troublePrompt } from "../models.ts";

const executions = z.array(z.looseObject({ id: z.string() }));
const TEXTS = {
  type: "object",
  properties: {
    text: { type: "string" },
    base64: { type: "string" },
    percent: { type: "string" },
  },
  required: ["text"],
  additionalProperties: false,
};

/** Agents that answer, and agents whose model does not, by what they do. */
export interface Agents {
  answering: Readonly<Record<string, string>>;
  failing: Readonly<Record<string, string>>;
}

/** Makes an agent of every kind, of either provider. */
export async function makeAgents(client: WholeSystem): Promise<Agents> {
  const make = (more: Record<string, unknown>) => makeAgent(client, client.acme.key, more);
  const failing: Record<string, string> = {
    misses: await make({ systemPrompt: MISSING_PROMPT, outputSchema: TEXTS }),
  };
  for (const trouble of TROUBLES) {
    failing[trouble] = await make({ systemPrompt: troublePrompt(trouble) });
  }
  const anthropic = { provider: "anthropic" };
  failing["refusedThere"] = await make({
    ...anthropic,
    systemPrompt: troublePrompt("unauthorized"),
  });
  return {
    answering: {
      writer: await make({}),
      sorter: await make({ outputSchema: TEXTS }),
      other: await make(anthropic),
      otherSorter: await make({ ...anthropic, outputSchema: TEXTS }),
    },
    failing,
  };
}

/** Tests, runs and judges agents by themselves; the id of an execution of one that answers. */
export async function tourAgents(
  client: WholeSystem,
  { answering, failing }: Agents,
  note: string,
): Promise<{ agent: string; agentExecution: string }> {
  const { hangs: _, ...others } = failing;
  const cases = [{ input: { note }, expect: { equals: note } }];
  for (const id of Object.values({ ...answering, ...others })) {
    const body = { input: { note }, userMessage: note };
    await client.call("POST", `/agents/${id}/test`, { body });
    await client.call("POST", `/agents/${id}/execute`, { body });
    await client.call("POST", `/agents/${id}/evaluate`, { body: { cases } });
    const { data } = await client.call("GET", `/agents/${id}/executions`);
    for (const execution of executions.parse(data)) {
      await client.call("GET", `/agents/${id}/executions/${execution.id}`);
    }
  }
  const agent = answering["writer"] ?? "";
  const { data } = await client.call("GET", `/agents/${agent}/executions`);
  const [first] = executions.parse(data);
  expect(first).toBeDefined();
  return { agent, agentExecution: first?.id ?? "" };
}
