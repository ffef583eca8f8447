import { openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { AgentsServiceService, AgentType } from "@workflow/proto/integrations/v1/agents";
import type { ExecuteAgentRequest } from "@workflow/proto/integrations/v1/agent_executions";
import type { Agent, CreateAgentRequest } from "@workflow/proto/integrations/v1/agents";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { startAnthropicDouble, startOpenAiDouble } from "@workflow/testkit";
import type { ModelDouble } from "@workflow/testkit";
import { z } from "zod";
import type { IntegrationsServiceOptions } from "../../src/service.ts";
import { newIdentity, startHarness } from "./harness.ts";
import type { Harness } from "./harness.ts";

export type AgentsClient = RpcClient<typeof AgentsServiceService>;

/** Of those who ask agents in tests. */
const ASKER_SCOPES = ["workflows:read", "workflows:write", "workflows:execute", "runs:read"];
export const MODELS = { openai: "gpt-6.1-terra", anthropic: "claude-sonnet-5-5" } as const;

const tokensRow = z.object({ used: z.number(), reserved: z.number() });
const countRow = z.object({ count: z.number() });

/** A replica that can be stopped by itself. */
export interface AgentsReplica {
  agents: AgentsClient;
  /** Of its gRPC server. */
  address: string;
  stop: () => Promise<void>;
}

/** Services that ask doubles of both providers, all on one database of this test file. */
export interface AgentsHarness extends Pick<Harness, "logged" | "tokens" | "databaseUri" | "kek"> {
  database: Database;
  openai: ModelDouble;
  anthropic: ModelDouble;
  start(options?: Partial<IntegrationsServiceOptions>): Promise<AgentsReplica>;
  /** The company's tokens of all days; calls that are held, of all companies. */
  tokensOf(identity: Identity): Promise<{ used: number; reserved: number }>;
  callsUnderWay(): Promise<number>;
  close(): Promise<void>;
}

export async function startAgentsHarness(): Promise<AgentsHarness> {
  const openai = await startOpenAiDouble();
  const anthropic = await startAnthropicDouble();
  const models = {
    openai: { apiKey: openai.key, baseUrl: openai.baseUrl, model: MODELS.openai, api: "auto" },
    anthropic: {
      apiKey: anthropic.key,
      baseUrl: anthropic.baseUrl,
      model: MODELS.anthropic,
    },
  } as const;
  const harness = await startHarness({ models });
  const clients: AgentsClient[] = [];
  const database = await openDatabase({
    connectionUri: harness.databaseUri,
    applicationName: "test",
    maxConnections: 2,
  });
  return {
    ...harness,
    database,
    openai,
    anthropic,
    async start(options = {}) {
      const service = await harness.start(options);
      const agents = createRpcClient(AgentsServiceService, {
        address: service.grpcAddress,
        minter: harness.tokens.minterTo("integrations"),
        defaultTimeoutMs: 60_000,
      });
      clients.push(agents);
      return { agents, address: service.grpcAddress, stop: () => service.stop() };
    },
    async tokensOf({ companyId }) {
      const row = await database.one(sql.type(tokensRow)`
        select coalesce(sum(used), 0)::bigint as used, coalesce(sum(reserved), 0)::bigint as reserved
        from integrations.agent_token_days
        where company_id = ${companyId}
      `);
      return row;
    },
    async callsUnderWay() {
      const { count } = await database.one(sql.type(countRow)`
        select count(*) as count from integrations.agent_calls
      `);
      return count;
    },
    async close() {
      for (const client of clients) client.close();
      await database.end();
      await harness.close();
      await openai.close();
      await anthropic.close();
    },
  };
}

/** A caller of a company of its own that asks agents. */
export function newAsker(): Identity {
  return newIdentity(ASKER_SCOPES);
}

/** An agent without a schema, or as the test wants it. */
export function createTestAgent(
  agents: AgentsClient,
  identity: Identity,
  more: Partial<CreateAgentRequest> = {},
): Promise<Agent> {
  const request = {
    name: "Reader",
    type: AgentType.CUSTOM,
    systemPrompt: "Say what the document says.",
    maxTokens: 100,
    ...more,
  };
  return agents.createAgent(request, { identity });
}

/** A question to this agent. */
export function questionTo(
  { id }: Pick<Agent, "id">,
  more: Partial<ExecuteAgentRequest> = {},
): ExecuteAgentRequest {
  return {
    agentId: id,
    inputJson: JSON.stringify({ document: "Invoice 7" }),
    overrides: undefined,
    ...more,
  };
}
