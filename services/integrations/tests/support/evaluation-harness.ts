import { randomBytes } from "node:crypto";
import { newUuid } from "@workflow/db";
import { createInProcessEventBus } from "@workflow/events";
import { AgentsServiceService, AgentType } from "@workflow/proto/integrations/v1/agents";
import type {
  AgentCase,
  AgentCaseResult,
  EvaluateAgentRequest,
  EvaluateAgentResponse,
} from "@workflow/proto/integrations/v1/agent_evaluations";
import type { CreateAgentRequest } from "@workflow/proto/integrations/v1/agents";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { createTestDatabase, createTestTokens, startOpenAiDouble } from "@workflow/testkit";
import type { ModelDouble } from "@workflow/testkit";
import { pino } from "pino";
import { startIntegrationsService } from "../../src/service.ts";
import type { IntegrationsServiceOptions } from "../../src/service.ts";

export type AgentsClient = RpcClient<typeof AgentsServiceService>;

/** The real service, with a double of OpenAI's API that its agents ask. */
export interface EvaluationHarness {
  openai: ModelDouble;
  /** Starts a replica and returns a client of it. */
  start(options?: Partial<IntegrationsServiceOptions>): Promise<AgentsClient>;
  close(): Promise<void>;
}

export async function startEvaluationHarness(): Promise<EvaluationHarness> {
  const testDatabase = await createTestDatabase();
  const tokens = createTestTokens();
  const bus = createInProcessEventBus({ consumers: {} });
  const openai = await startOpenAiDouble();
  const kek = randomBytes(32);
  const closers: (() => Promise<void> | void)[] = [];
  return {
    openai,
    async start(options = {}) {
      const { baseUrl, key: apiKey } = openai;
      const service = await startIntegrationsService({
        databaseUrl: testDatabase.connectionUri,
        databasePoolSize: 10,
        loadKeks: () => Promise.resolve([kek]),
        bus,
        models: {
          openai: { apiKey, baseUrl, model: "gpt-test", api: "chat" },
          anthropic: { apiKey: undefined, baseUrl: "http://127.0.0.1:9", model: "claude-test" },
        },
        outboundAllowPrivate: true,
        grpcAddress: "127.0.0.1:0",
        tokenPublicKeys: tokens.publicKeys,
        grpcReflection: false,
        logger: pino({ level: "silent" }),
        ...options,
      });
      const client = createRpcClient(AgentsServiceService, {
        address: service.grpcAddress,
        minter: tokens.minterTo("integrations"),
        defaultTimeoutMs: 60_000,
      });
      closers.push(
        () => service.stop(),
        () => client.close(),
      );
      return client;
    },
    async close() {
      for (const close of closers.toReversed()) await close();
      await openai.close();
      await bus.close();
      await testDatabase.close();
    },
  };
}

/** Somebody of a company of their own who may make and ask agents. */
export function newAuthor(): Identity {
  return {
    companyId: newUuid(),
    principal: { type: "user", id: newUuid() },
    scopes: ["workflows:read", "workflows:write", "workflows:execute"],
  };
}

/** A new agent of the author's company; its id. */
export async function makeAgent(
  client: AgentsClient,
  identity: Identity,
  more: Partial<CreateAgentRequest> = {},
): Promise<string> {
  const agent = await client.createAgent(
    {
      name: `Agent ${newUuid()}`,
      type: AgentType.CUSTOM,
      systemPrompt: "Answer in one word.",
      description: undefined,
      provider: undefined,
      model: undefined,
      outputSchemaJson: undefined,
      temperature: undefined,
      maxTokens: undefined,
      ...more,
    },
    { identity },
  );
  return agent.id;
}

/** A case with an expectation as the REST body has it. */
export function aCase(
  input: object,
  expect: { equals: unknown } | { schema: object } | { expression: string },
  more: { name?: string; userMessage?: string } = {},
): AgentCase {
  return {
    name: more.name,
    userMessage: more.userMessage,
    inputJson: JSON.stringify(input),
    expect: toExpect(expect),
  };
}

function toExpect(
  expect: { equals: unknown } | { schema: object } | { expression: string },
): AgentCase["expect"] {
  if ("equals" in expect) return { $case: "equalsJson", value: JSON.stringify(expect.equals) };
  if ("schema" in expect) return { $case: "schemaJson", value: JSON.stringify(expect.schema) };
  return { $case: "expression", value: expect.expression };
}

/** A request with what tests mostly do not care about. */
export function evaluation(
  agentId: string,
  cases: AgentCase[],
  more: Partial<EvaluateAgentRequest> = {},
): EvaluateAgentRequest {
  return { agentId, cases, overrides: undefined, systemPrompt: undefined, ...more };
}

/** What came of the only case. */
export function onlyResult({ results }: EvaluateAgentResponse): AgentCaseResult {
  const [result, ...others] = results;
  if (result === undefined || others.length > 0) {
    throw new Error(`Expected one result, got ${results.length}`);
  }
  return result;
}
