import { newUuid } from "@workflow/db";
import { makeAgent } from "../agents.ts";
import { makeFinanceConnection } from "../connections.ts";
import { createActive } from "../scenarios.ts";
import type { WholeSystem } from "../whole-system.ts";
import { withId } from "./audited-request.ts";
import type { AuditedRequest, PrepareAudited } from "./audited-request.ts";

/** Requests of secrets, connections and agents that succeed, by route. */
export const INTEGRATIONS: Readonly<Record<string, PrepareAudited>> = {
  "POST /workflows/{workflowId}/secrets": async (system) => ({
    path: `/workflows/${await createActive(system)}/secrets`,
    body: { key: "TOKEN", value: "hush-hush-hush" },
    resourceIds: null,
  }),
  "PUT /workflows/{workflowId}/secrets/{key}": async (system) => {
    const { path, id } = await createSecret(system);
    return { path: `${path}/TOKEN`, body: { value: "hush-hush-hush" }, resourceIds: [id] };
  },
  "DELETE /workflows/{workflowId}/secrets/{key}": async (system) => {
    const { path, id } = await createSecret(system);
    return { path: `${path}/TOKEN`, resourceIds: [id] };
  },
  "POST /connections": async () => ({
    path: "/connections",
    body: { name: "Ledger", provider: "finance", externalAccountId: `acct_${newUuid()}` },
    resourceIds: null,
  }),
  "POST /connections/{provider}/api-key": async () => ({
    path: "/connections/rillet/api-key",
    body: { apiKey: "good-hush" },
    resourceIds: null,
  }),
  "DELETE /connections/{id}": async (system) => {
    const id = await makeFinanceConnection(system, system.acme.key);
    return { path: `/connections/${id}`, resourceIds: [id] };
  },
  "POST /connections/{id}/refresh": async (system) => {
    const id = await makeFinanceConnection(system, system.acme.key);
    return { path: `/connections/${id}/refresh`, resourceIds: [id] };
  },
  "POST /connections/{id}/verify": async (system) => {
    const id = await makeFinanceConnection(system, system.acme.key);
    return { path: `/connections/${id}/verify`, resourceIds: [id] };
  },
  "POST /agents": async () => ({
    path: "/agents",
    body: {
      name: `Reader ${newUuid()}`,
      type: "extraction",
      systemPrompt: "Say hush.",
      outputSchema: { title: "hush" },
    },
    resourceIds: null,
  }),
  "PUT /agents/{id}": async (system) => {
    const id = await makeAgent(system, system.acme.key);
    return { path: `/agents/${id}`, body: { systemPrompt: "Say hush." }, resourceIds: [id] };
  },
  "DELETE /agents/{id}": async (system) => {
    const id = await makeAgent(system, system.acme.key);
    return { path: `/agents/${id}`, resourceIds: [id] };
  },
  "POST /agents/{id}/test": (system) => questionToAgent(system, "test", { input: {} }),
  "POST /agents/{id}/execute": (system) => questionToAgent(system, "execute", { input: {} }),
  "POST /agents/{id}/evaluate": (system) =>
    questionToAgent(system, "evaluate", { cases: [{ input: {}, expect: { equals: "hush" } }] }),
};

/** A question to an agent, which leaves no event. */
async function questionToAgent(
  system: WholeSystem,
  verb: string,
  body: unknown,
): Promise<AuditedRequest> {
  const id = await makeAgent(system, system.acme.key);
  return { path: `/agents/${id}/${verb}`, body, resourceIds: [] };
}

async function createSecret(system: WholeSystem): Promise<{ path: string; id: string }> {
  const path = `/workflows/${await createActive(system)}/secrets`;
  const body = { key: "TOKEN", value: "hush" };
  const { data } = await system.call("POST", path, { body });
  return { path, id: withId.parse(data).id };
}
