import { expect } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { z } from "zod";
import type { WholeSystem } from "./whole-system.ts";

/** The fields of the contract with the times of making and change, and no others. */
export const agentSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  type: z.string(),
  scope: z.enum(["global", "company"]),
  status: z.enum(["active", "deprecated"]),
  provider: z.string(),
  model: z.string(),
  systemPrompt: z.string(),
  outputSchema: z.record(z.string(), z.unknown()).nullable(),
  temperature: z.number(),
  maxTokens: z.int(),
  version: z.int(),
  createdAt: z.iso.datetime({ precision: 3 }),
  updatedAt: z.iso.datetime({ precision: 3 }),
});

const withId = z.object({ id: z.string() });

/** Makes an active agent of the key's company under a new name; returns its id. */
export async function makeAgent(
  system: WholeSystem,
  key: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const body = {
    name: `Agent ${newUuid()}`,
    type: "custom",
    systemPrompt: "Answer in one word.",
    ...more,
  };
  const { data } = await system.call("POST", "/agents", { key, body });
  return withId.parse(data).id;
}

/** Makes an execution of an agent of the key's company; returns its id. */
export async function executeTestAgent(
  system: WholeSystem,
  key: string,
  agentId: string,
): Promise<string> {
  const answer = await system.call("POST", `/agents/${agentId}/execute`, {
    key,
    body: { input: { document: "Invoice 7" } },
  });
  return withId.parse(answer.data).id;
}

/** An agent as acme sees it. */
export async function getAgent(
  system: WholeSystem,
  id: string,
): Promise<z.output<typeof agentSchema>> {
  const answer = await system.call("GET", `/agents/${id}`);
  expect(answer.status).toBe(200);
  return agentSchema.parse(answer.data);
}

/** The ids of the agents that a query finds, in one page. */
export async function listAgentIds(
  system: WholeSystem,
  query: string,
  key = system.acme.key,
): Promise<string[]> {
  const answer = await system.call("GET", `/agents?limit=100&${query}`, { key });
  expect(answer).toMatchObject({ status: 200, meta: { cursor: null, hasMore: false } });
  const agents = z.array(agentSchema).parse(answer.data);
  return agents.map(({ id }) => id);
}
