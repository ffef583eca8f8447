import { newUuid, sql } from "@workflow/db";
import {
  AgentsServiceService,
  AgentStatus,
  AgentType,
} from "@workflow/proto/integrations/v1/agents";
import type {
  Agent,
  CreateAgentRequest,
  ListAgentsRequest,
  UpdateAgentRequest,
} from "@workflow/proto/integrations/v1/agents";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { z } from "zod";
import { newIdentity, startHarness } from "./harness.ts";
import type { Harness } from "./harness.ts";

export type AgentsClient = RpcClient<typeof AgentsServiceService>;

/** Who calls, in the options of a call. */
export interface Caller {
  identity: Identity;
}

/** What lists are asked for by default. */
export const WHOLE_LIST: ListAgentsRequest = {
  type: AgentType.UNSPECIFIED,
  status: AgentStatus.UNSPECIFIED,
  search: "",
  withoutCore: false,
  page: undefined,
};

/** The core agents in the order of lists. */
export const CORE_IDS = ["agent_extraction", "agent_content", "agent_transform", "agent_decision"];

/** Two replicas of the real service, and what tests of agents do again and again. */
export interface ManagedAgents {
  harness: Harness;
  agents: AgentsClient;
  other: AgentsClient;
  /** Makes an agent with a name of its own. */
  create: (caller: Caller, more?: Partial<CreateAgentRequest>) => Promise<Agent>;
  update: (caller: Caller, agentId: string, change?: Partial<UpdateAgentRequest>) => Promise<Agent>;
  /** Names of a whole list, page by page, of core agents the ids. */
  listAll: (
    caller: Caller,
    filter?: Partial<ListAgentsRequest>,
    limit?: number,
  ) => Promise<string[][]>;
  /** Agents as if they had been made now and, where they are deprecated, deleted in a minute. */
  fill: (caller: Caller, count: number, status: "active" | "deprecated") => Promise<void>;
  close(): Promise<void>;
}

/** A caller of a company of its own that may read and change agents. */
export function newCaller(): Caller {
  return { identity: newIdentity(["workflows:read", "workflows:write"]) };
}

export async function startManagedAgents(): Promise<ManagedAgents> {
  const harness = await startHarness();
  const connect = async (): Promise<AgentsClient> => {
    const { grpcAddress: address } = await harness.start();
    const minter = harness.tokens.minterTo("integrations");
    return createRpcClient(AgentsServiceService, { address, minter });
  };
  const [agents, other] = [await connect(), await connect()];
  return {
    harness,
    agents,
    other,
    create: (caller, more) =>
      agents.createAgent(
        {
          name: `Agent ${newUuid()}`,
          type: AgentType.CUSTOM,
          systemPrompt: "Answer in one word.",
          ...more,
        },
        caller,
      ),
    update: (caller, agentId, change) =>
      agents.updateAgent({ agentId, type: AgentType.UNSPECIFIED, ...change }, caller),
    async listAll(caller, filter, limit = 100) {
      const pages: string[][] = [];
      let cursor = "";
      do {
        const request = { ...WHOLE_LIST, ...filter, page: { limit, cursor } };
        const { agents: listed, page } = await agents.listAgents(request, caller);
        pages.push(listed.map(({ id, name, isCore }) => (isCore ? id : name)));
        cursor = page?.cursor ?? "";
        if (page?.hasMore !== (cursor !== "")) throw new Error("A page is at odds with itself.");
      } while (cursor !== "");
      return pages;
    },
    async fill({ identity }, count, status) {
      await harness.database.query(sql.type(z.object({}))`
        insert into integrations.agents (
          id, company_id, name, type, status, provider, system_prompt, temperature, max_tokens,
          content_bytes, updated_at
        )
        select gen_random_uuid(), ${identity.companyId}, 'Filler ' || number, 'custom', ${status},
          'openai', 'Answer.', 0, 1, 7, now() + interval '1 minute'
        from generate_series(1, ${count}::integer) as number
      `);
    },
    async close() {
      agents.close();
      other.close();
      await harness.close();
    },
  };
}
