import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import type {
  ExecuteAgentStepRequest,
  ExecuteAgentStepResponse,
} from "@workflow/proto/integrations/v1/agent_executions";
import { createRpcServer, createTokenVerifier, rpc } from "@workflow/rpc";
import type { RpcContext, RpcServer } from "@workflow/rpc";
import { createTestTokens, freePort } from "@workflow/testkit";
import { pino } from "pino";
import { createAgentClient } from "../src/effects/agent-client.ts";
import type {
  AgentCall,
  AgentClient,
  AgentQuestion,
} from "../src/interpreter/effects/agent-client.ts";
import { readAgentQuestion } from "../src/interpreter/steps/agent-question.ts";

const MIB = 1024 * 1024;
const tokens = createTestTokens();
const tokenSigner = tokens.signerOf("runs");
const question = readAgentQuestion({ agentId: "agent_content", input: { tone: "formal" } });
const call: AgentCall = {
  companyId: newUuid(),
  requestId: "req-1",
  traceparent: null,
  runId: "run_1",
  key: "k",
  secrets: [],
  timeoutMs: null,
};
const never = new AbortController().signal;
const unused = () =>
  rpc({ scopes: "internal:effects", handler: () => Promise.reject(new Error("not called")) });

/** A double of the integrations service. */
let answer: (
  request: ExecuteAgentStepRequest,
  context: RpcContext,
) => Promise<ExecuteAgentStepResponse>;
let server: RpcServer;
let client: AgentClient;

beforeAll(async () => {
  server = createRpcServer({
    logger: pino({ level: "silent" }),
    verifier: createTokenVerifier({
      audience: "integrations",
      publicKeys: tokens.publicKeys,
      revoked: { has: async () => false },
    }),
  });
  server.add(AgentsServiceService, {
    listAgents: unused(),
    getAgent: unused(),
    createAgent: unused(),
    updateAgent: unused(),
    deleteAgent: unused(),
    testAgent: unused(),
    executeAgent: unused(),
    executeAgentStep: rpc({
      scopes: "internal:effects",
      handler: (...given) => answer(...given),
    }),
    evaluateAgent: unused(),
    listAgentExecutions: unused(),
    getAgentExecution: unused(),
    checkAgents: unused(),
  });
  const { address } = await server.listen("127.0.0.1:0");
  client = createAgentClient({ address, tokenSigner });
});

afterAll(async () => {
  client.close();
  await server.close();
});

const completed = (value: string): ExecuteAgentStepResponse => ({
  outcome: { $case: "outputJson", value },
  executionId: "aex_1",
});
const ask = (more: Partial<AgentCall> = {}, asked: AgentQuestion = question) =>
  client.ask(asked, null, { ...call, ...more }, never);

describe("the way out to agents", () => {
  it("asks for the company of the run, under the key of the attempt", async () => {
    const seen: unknown[] = [];
    answer = (request, { identity }) => {
      seen.push(request, identity.companyId, identity.principal);
      return Promise.resolve(completed('{"text":"Hello"}'));
    };
    const overrides = { temperature: 0, maxTokens: 5, model: "m" };
    const asked = { ...question, userMessage: "Be brief.", overrides };
    const record = { input: '{"tone":"••••"}', userMessage: "••••" };
    const given = { ...call, secrets: ["formal"], key: "run_1:ask:1", timeoutMs: 5_000 };
    expect(await client.ask(asked, record, given, never)).toBe('{"text":"Hello"}');
    expect(seen).toEqual([
      {
        agentId: "agent_content",
        inputJson: '{"tone":"formal"}',
        maskedInputJson: record.input,
        userMessage: "Be brief.",
        maskedUserMessage: record.userMessage,
        overrides,
        idempotencyKey: "run_1:ask:1",
        runId: "run_1",
        secrets: ["formal"],
        timeoutMs: 5_000,
      },
      call.companyId,
      expect.objectContaining({ type: "service", id: "runs" }),
    ]);
  });

  it("waits for weeks where a step may take 30 days", async () => {
    const deadlines: Date[] = [];
    answer = ({ timeoutMs }, { deadline }) => {
      deadlines.push(deadline);
      return Promise.resolve(completed(String(timeoutMs)));
    };
    expect(await ask({ timeoutMs: 30 * 86_400_000 })).toBe("2592000000");
    expect(deadlines[0]?.getTime()).toBeGreaterThan(Date.now() + 20 * 86_400_000);
  });

  it("sends a question without secrets once, not masked as well", async () => {
    let seen: ExecuteAgentStepRequest | undefined;
    answer = (request) => {
      seen = request;
      return Promise.resolve(completed("null"));
    };
    await ask();
    expect(seen).toMatchObject({ maskedInputJson: "", secrets: [], timeoutMs: 0 });
  });

  it("keeps the keys of two attempts apart however long they are", async () => {
    const keys: string[] = [];
    answer = ({ idempotencyKey }) => {
      keys.push(idempotencyKey);
      return Promise.resolve(completed("null"));
    };
    const path = "outer.".repeat(200);
    for (const group of [1, 1, 2]) await ask({ key: `${path}:${group}` });
    expect(keys[0]?.length).toBeLessThanOrEqual(500);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  it("fails the step with what the service says of it", async () => {
    const failure = {
      code: "AGENT_RATE_LIMITED",
      message: "OpenAI asks to wait.",
      retryable: true,
      answered: true,
      retryAfterMs: 7_000,
      detailsJson: '{"provider":"openai","status":429}',
    };
    answer = () =>
      Promise.resolve({ outcome: { $case: "failure", value: failure }, executionId: "aex_1" });
    await expect(ask()).rejects.toMatchObject({
      name: "StepError",
      code: "AGENT_RATE_LIMITED",
      retryable: true,
      answered: true,
      retryAfterMs: 7_000,
      details: { provider: "openai", status: 429 },
    });
  });

  it("fails the step for now, under the same key, while the service is away", async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const lonely = createAgentClient({ address, tokenSigner, pausesMs: [1, 1] });
    await expect(lonely.ask(question, null, call, never)).rejects.toMatchObject({
      code: "AGENT_UNAVAILABLE",
      retryable: true,
      answered: false,
    });
    lonely.close();
  });

  it("asks again under the same key when the service is being replaced", async () => {
    const keys: string[] = [];
    answer = ({ idempotencyKey }) => {
      keys.push(idempotencyKey);
      return keys.length < 3
        ? Promise.reject(new AppError("UNAVAILABLE", "The service is stopping."))
        : Promise.resolve(completed('"At last"'));
    };
    expect(await ask()).toBe('"At last"');
    expect(keys).toEqual(["k", "k", "k"]);
  });

  it("leaves a fault of ours what it is", async () => {
    answer = () => Promise.reject(new Error("a bug"));
    await expect(ask()).rejects.toMatchObject({ name: "AppError", reason: "INTERNAL_ERROR" });
  });

  it("stops with the reason of the signal, and the service is told", async () => {
    const aborter = new AbortController();
    const told = new Promise<void>((resolve) => {
      answer = (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            resolve();
            reject(new AppError("UNAVAILABLE", "cancelled"));
          });
          aborter.abort(new Error("the run was cancelled"));
        });
    });
    await expect(client.ask(question, null, call, aborter.signal)).rejects.toThrow(
      "the run was cancelled",
    );
    await told;
  });

  it.each([
    ["128 small questions", 140, 2, 128],
    ["16 questions of 1 MiB", 24, MIB, 16],
  ])("has %s of a company under way at most, and another's beside", async (_, sent, bytes, max) => {
    const [greedy, other] = [newUuid(), newUuid()];
    const given: (() => void)[] = [];
    const turns = Array.from({ length: sent }, async () => {
      const giveBack = await client.takeTurn(greedy, bytes, never);
      given.push(giveBack);
    });
    await Promise.all(turns.slice(0, max));
    (await client.takeTurn(other, bytes, never))();
    expect(given).toHaveLength(max);
    for (const giveBack of given) giveBack();
    await Promise.all(turns);
    for (const giveBack of given.slice(max)) giveBack();
  });
});

describe("a resolved question", () => {
  it("has nothing where templates found nothing", () => {
    const resolved = {
      agentId: "a",
      input: {},
      userMessage: null,
      overrides: { temperature: null, maxTokens: 7, model: null },
    };
    expect(readAgentQuestion(resolved)).toEqual({
      agentId: "a",
      input: "{}",
      userMessage: undefined,
      overrides: { temperature: undefined, maxTokens: 7, model: undefined },
    });
    expect(readAgentQuestion({ ...resolved, overrides: null })).toMatchObject({ input: "{}" });
  });

  it("may have a message of 100,000 characters, however many units they are", () => {
    const userMessage = "😀".repeat(100_000);
    expect(readAgentQuestion({ agentId: "a", input: {}, userMessage })).toMatchObject({
      userMessage,
    });
  });

  it("keeps members of the input whatever their names", () => {
    const input: unknown = JSON.parse('{"__proto__":{"a":1},"constructor":2}');
    expect(readAgentQuestion({ agentId: "a", input }).input).toBe(
      '{"__proto__":{"a":1},"constructor":2}',
    );
  });

  it.each<[object, string]>([
    [{ agentId: null }, "agentId"],
    [{ agentId: "" }, "agentId"],
    [{ agentId: "a".repeat(201) }, "agentId"],
    [{ input: null }, "input"],
    [{ input: [] }, "input"],
    [{ input: "text" }, "input"],
    [{ input: { a: "ü".repeat(MIB / 2) } }, "input"],
    [{ userMessage: 7 }, "userMessage"],
    [{ userMessage: "x".repeat(100_001) }, "userMessage"],
    [{ userMessage: "😀".repeat(100_001) }, "userMessage"],
    [{ overrides: [] }, "overrides"],
    [{ overrides: { temperature: 2.1 } }, "overrides.temperature"],
    [{ overrides: { temperature: "1" } }, "overrides.temperature"],
    [{ overrides: { maxTokens: 0 } }, "overrides.maxTokens"],
    [{ overrides: { maxTokens: 1.5 } }, "overrides.maxTokens"],
    [{ overrides: { maxTokens: 128_001 } }, "overrides.maxTokens"],
    [{ overrides: { model: 7 } }, "overrides.model"],
  ])("is refused for good, naming the field: %#", (wrong, path) => {
    expect(() => readAgentQuestion({ agentId: "a", input: {}, ...wrong })).toThrow(
      expect.objectContaining({
        code: "INVALID_INPUT",
        retryable: false,
        details: { problems: [{ path: path.split("."), message: expect.any(String) }] },
      }),
    );
  });
});
