import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { newId, sql } from "@workflow/db";
import { AgentExecutionStatus } from "@workflow/proto/integrations/v1/agent_executions";
import { AgentsServiceService } from "@workflow/proto/integrations/v1/agents";
import { createRpcClient } from "@workflow/rpc";
import { freePort, waitFor } from "@workflow/testkit";
import { z } from "zod";
import { runsOf } from "./support/actions-harness.ts";
import {
  createTestAgent,
  newAsker,
  questionTo,
  startAgentsHarness,
} from "./support/agents-harness.ts";
import type { AgentsHarness } from "./support/agents-harness.ts";

const LEASE_MS = 1_500;

let harness: AgentsHarness;

beforeAll(async () => {
  harness = await startAgentsHarness();
});
afterAll(() => harness.close());

it("a process whose database swallows everything ends its question before another asks it", async () => {
  const line = await openLine(harness.databaseUri);
  const agentCalls = { leaseMs: LEASE_MS };
  const cut = await harness.start({ databaseUrl: line.databaseUri, agentCalls });
  const whole = await harness.start({ agentCalls });
  const minter = harness.tokens.serviceMinterTo("integrations", "runs");
  const clients = [cut, whole].map(({ address }) =>
    createRpcClient(AgentsServiceService, { address, minter, defaultTimeoutMs: 60_000 }),
  );
  const identity = newAsker();
  const agent = await createTestAgent(whole.agents, identity);
  const question = {
    agentId: agent.id,
    inputJson: "{}",
    maskedInputJson: "",
    overrides: undefined,
    idempotencyKey: `${newId("run_")}:ask:1`,
    runId: newId("run_"),
    secrets: [],
    timeoutMs: 0,
  };
  const ask = async (n: number): Promise<unknown> =>
    clients[n]
      ?.executeAgentStep(question, { identity: runsOf(identity.companyId) })
      .catch((error: unknown) => error);
  harness.openai.script.push({ trouble: "hangs" }, "Hello");
  const before = harness.openai.asked.length;
  const calls = [ask(0)];
  try {
    await waitFor(() => harness.openai.asked.length > before);
    const asked = harness.openai.asked[before];
    line.swallow();
    calls.push(ask(1));
    await waitFor(() => asked?.hungUp === true, { timeoutMs: 60_000 });
    expect(await calls[1]).toMatchObject({ outcome: { value: '"Hello"' } });
  } finally {
    await line.close();
    await Promise.all(calls);
    for (const client of clients) client.close();
  }
});

it("an end that the database does not take becomes a failure that it does", async () => {
  const { agents } = await harness.start();
  const identity = newAsker();
  const agent = await createTestAgent(agents, identity);
  const run = (statement: Parameters<typeof harness.database.query>[0]) =>
    harness.database.query(statement);
  await run(sql.type(z.object({}))`
    alter table integrations.agent_executions
    add constraint agent_executions_test check (raw_output <> 'Unstorable') not valid
  `);
  const usage = { inputTokens: 3, outputTokens: 4 };
  harness.openai.script.push({ text: "Unstorable", usage });
  const execution = await agents.executeAgent(questionTo(agent), { identity });
  expect(execution).toMatchObject({
    status: AgentExecutionStatus.FAILED,
    error: { code: "AGENT_FAILED" },
    usage: { totalTokens: 7 },
  });
  expect(execution.rawOutput).toBeUndefined();
  expect(await harness.callsUnderWay()).toBe(0);
  expect(await harness.tokensOf(identity)).toEqual({ used: 7, reserved: 0 });
  await run(sql.type(z.object({}))`
    alter table integrations.agent_executions drop constraint agent_executions_test
  `);
});

/** A way to the database on which everything can get lost, in silence. */
async function openLine(databaseUri: string) {
  const target = new URL(databaseUri);
  const targetPort = Number(target.searchParams.get("port") ?? (target.port || "5432"));
  const sockets: Socket[] = [];
  let isSwallowing = false;
  const server = createServer((near) => {
    const host = target.searchParams.get("host") ?? decodeURIComponent(target.hostname);
    const far = host.startsWith("/")
      ? connect(`${host}/.s.PGSQL.${targetPort}`)
      : connect(targetPort, host.replaceAll(/[[\]]/g, ""));
    sockets.push(near, far);
    const carry = (from: Socket, to: Socket): void => {
      from.on("data", (data) => {
        if (!isSwallowing) to.write(data);
      });
      from.on("error", () => {});
      from.on("close", () => to.destroy());
    };
    carry(near, far);
    carry(far, near);
  });
  const port = await freePort();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const through = new URL(databaseUri);
  through.searchParams.delete("host");
  through.searchParams.delete("port");
  through.hostname = "127.0.0.1";
  through.port = String(port);
  return {
    databaseUri: through.href,
    swallow: () => void (isSwallowing = true),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
