import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { AgentExecutionStatus } from "@workflow/proto/integrations/v1/agent_executions";
import { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import type { AgentExecution } from "@workflow/proto/integrations/v1/agent_executions";
import { createRpcClient } from "@workflow/rpc";
import type { Identity } from "@workflow/rpc";
import { freePort, startLocalNats, waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  createTestAgent,
  newAsker,
  questionTo,
  startAgentsHarness,
} from "./support/agents-harness.ts";
import type { AgentsClient, AgentsHarness } from "./support/agents-harness.ts";
import { errorOf } from "./support/harness.ts";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

/** A process that stalls for as long loses its calls. */
const LEASE_MS = 3_000;

let harness: AgentsHarness;
/** Of the replica that stays. */
let agents: AgentsClient;
/** Lets the provider answer what it was asked. */
let answer = (): void => {};

beforeAll(async () => {
  harness = await startAgentsHarness();
  ({ agents } = await harness.start({
    agentCalls: { leaseMs: LEASE_MS, tokensPerDay: 1_000_000 },
  }));
});
afterAll(() => harness.close());
beforeEach(() => {
  const answered = new Promise<void>((resolve) => (answer = resolve));
  harness.openai.reply = async () => {
    await answered;
    return { text: "Hello", usage: { inputTokens: 3, outputTokens: 4 } };
  };
});
afterEach(() => answer());

/** The next question has reached the provider when this resolves. */
async function untilAsked(begin: () => void) {
  const before = harness.openai.asked.length;
  begin();
  await waitFor(() => harness.openai.asked.length > before, { what: "the provider to be asked" });
  const asked = harness.openai.asked.at(-1);
  if (asked === undefined) throw new Error("nobody was asked");
  return asked;
}

async function onlyExecution(agentId: string, identity: Identity): Promise<AgentExecution> {
  const request = { agentId, page: undefined };
  const { executions } = await agents.listAgentExecutions(request, { identity });
  const [execution] = executions;
  if (execution === undefined || executions.length > 1) throw new Error("not one execution");
  return execution;
}

async function untilEnded(agentId: string, identity: Identity): Promise<AgentExecution> {
  await waitFor(async () => {
    const { status } = await onlyExecution(agentId, identity);
    return status !== AgentExecutionStatus.RUNNING;
  });
  return onlyExecution(agentId, identity);
}

describe("a question whose caller goes away", () => {
  it("ends the request to the provider, and is cancelled; what it may have cost counts", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    const caller = new AbortController();
    let call: Promise<unknown> = Promise.resolve();
    const asked = await untilAsked(() => {
      const options = { identity, signal: caller.signal };
      call = errorOf(agents.executeAgent(questionTo(agent), options));
    });
    const running = await onlyExecution(agent.id, identity);
    expect(running).toMatchObject({ status: AgentExecutionStatus.RUNNING });
    expect(running.durationMs).toBeUndefined();
    const { reserved } = await harness.tokensOf(identity);
    expect(reserved).toBeGreaterThan(agent.maxTokens);
    caller.abort();
    await call;
    await waitFor(() => asked.hungUp, { what: "the provider to see it" });
    expect(await untilEnded(agent.id, identity)).toMatchObject({
      status: AgentExecutionStatus.CANCELLED,
      error: { code: "AGENT_CANCELLED" },
    });
    const tokens = await harness.tokensOf(identity);
    expect(tokens.reserved).toBe(0);
    expect(tokens.used).toBeGreaterThan(0);
    expect(tokens.used).toBeLessThanOrEqual(reserved);
  });
});

describe("a question whose service ends", () => {
  it("that is stopped in order ends as interrupted at once, and costs nothing", async () => {
    const identity = newAsker();
    const { agents: leaving, stop } = await harness.start();
    const agent = await createTestAgent(agents, identity);
    let call: Promise<unknown> = Promise.resolve();
    await untilAsked(() => {
      call = errorOf(leaving.executeAgent(questionTo(agent), { identity }));
    });
    const test = errorOf(leaving.testAgent({ agentId: agent.id, inputJson: "{}" }, { identity }));
    await waitFor(async () => (await harness.callsUnderWay()) === 2);
    await stop();
    await Promise.all([call, test]);
    expect(await onlyExecution(agent.id, identity)).toMatchObject({
      status: AgentExecutionStatus.FAILED,
      error: { code: "AGENT_INTERRUPTED" },
    });
    expect(await harness.tokensOf(identity)).toEqual({ used: 0, reserved: 0 });
  });

  it("by kill -9 is swept by another: it has failed, and its tokens are back", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    const process = await launch();
    try {
      let call: Promise<unknown> = Promise.resolve();
      let test: Promise<unknown> = Promise.resolve();
      await untilAsked(() => {
        call = errorOf(process.agents.executeAgent(questionTo(agent), { identity }));
      });
      await untilAsked(() => {
        const request = { agentId: agent.id, inputJson: "{}" };
        test = errorOf(process.agents.testAgent(request, { identity }));
      });
      await process.kill();
      expect(await call).toMatchObject({ reason: "UNAVAILABLE" });
      await test;
      expect(await onlyExecution(agent.id, identity)).toMatchObject({
        status: AgentExecutionStatus.RUNNING,
      });
      await endLeases(identity);
      expect(await untilEnded(agent.id, identity)).toMatchObject({
        status: AgentExecutionStatus.FAILED,
        error: { code: "AGENT_INTERRUPTED" },
      });
      await waitFor(async () => (await harness.callsUnderWay()) === 0);
      expect(await harness.tokensOf(identity)).toEqual({ used: 0, reserved: 0 });
    } finally {
      await process.close();
    }
  });
});

describe("a question that takes longer than a lease", () => {
  it("is not swept while its process lives", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    let call: Promise<AgentExecution> | undefined;
    await untilAsked(() => {
      call = agents.executeAgent(questionTo(agent), { identity });
    });
    const leaseOf = async () => {
      const row = await harness.database.one(sql.type(z.object({ until: z.date() }))`
        select held_until as until from integrations.agent_calls
        where company_id = ${identity.companyId}
      `);
      return row.until.getTime();
    };
    const first = await leaseOf();
    await waitFor(async () => (await leaseOf()) > first + LEASE_MS, { what: "two renewals" });
    answer();
    expect(await call).toMatchObject({ status: AgentExecutionStatus.COMPLETED });
  });

  it("that was given up by others ends, and is not recorded twice", async () => {
    const identity = newAsker();
    const agent = await createTestAgent(agents, identity);
    let call: Promise<unknown> = Promise.resolve();
    const asked = await untilAsked(() => {
      call = errorOf(agents.executeAgent(questionTo(agent), { identity }));
    });
    // As if the process had been frozen for longer than its lease, and another had swept.
    await harness.database.query(sql.type(z.object({}))`
      with dead as (
        delete from integrations.agent_calls where company_id = ${identity.companyId}
        returning claim
      )
      update integrations.agent_executions as execution
      set status = 'failed', ended_at = now(),
        error = '{"code": "AGENT_INTERRUPTED", "message": "It was.", "details": {}}'
      from dead
      where execution.claim = dead.claim
    `);
    expect(await call).toMatchObject({ reason: "UNAVAILABLE" });
    await waitFor(() => asked.hungUp, { what: "the provider to see it" });
    expect(await onlyExecution(agent.id, identity)).toMatchObject({
      status: AgentExecutionStatus.FAILED,
      error: { code: "AGENT_INTERRUPTED", message: "It was." },
    });
  });
});

/** What a dead process has left counts as dead at once. */
async function endLeases({ companyId }: Identity): Promise<void> {
  await harness.database.query(sql.type(z.object({}))`
    update integrations.agent_calls set held_until = now() where company_id = ${companyId}
  `);
}

/** The service as a process of its own, on the same database. */
async function launch() {
  const nats = await startLocalNats();
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env["PATH"],
      DATABASE_URL: harness.databaseUri,
      NATS_URL: nats.url,
      SECRETS_KEK: harness.kek.toString("base64"),
      INTEGRATIONS_GRPC_ADDR: address,
      OPENAI_API_KEY: harness.openai.key,
      OPENAI_BASE_URL: harness.openai.baseUrl,
      ...harness.tokens.environment(),
      METRICS_PORT: "0",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const client = createRpcClient(AgentsServiceService, {
    address,
    minter: harness.tokens.minterTo("integrations"),
    defaultTimeoutMs: 60_000,
  });
  const ended = once(child, "exit");
  await waitFor(() => client.isServing(500), { what: "the process", timeoutMs: 60_000 });
  return {
    agents: client,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    async close() {
      child.kill("SIGKILL");
      client.close();
      await nats.stop();
    },
  };
}
