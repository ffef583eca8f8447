import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { AgentsServiceService, AgentType } from "@workflow/proto/integrations/v1/agents";
import { ConnectionsServiceService } from "@workflow/proto/integrations/v1/connections";
import { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import { createRpcClient } from "@workflow/rpc";
import type { Identity, RpcClient } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { lockAgent, lockAgentsOf } from "../src/store/agents.ts";
import { lockConnectionsOf } from "../src/store/connections.ts";
import { WHOLE_LIST } from "./support/managed-agents-harness.ts";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

const nothing = z.object({});
/** Those of one company that are made or wait. */
const PLACES = 256;
const BEYOND = 20;
/** Pages of agents of one company. */
const READ_AT_A_TIME = 2;
const TIMEOUT_MS = 60_000;
const SCOPES = [
  "workflows:read",
  "workflows:write",
  "secrets:read",
  "secrets:write",
  "connections:write",
];

let harness: Harness;
let agents: RpcClient<typeof AgentsServiceService>;
let connections: RpcClient<typeof ConnectionsServiceService>;
let secrets: RpcClient<typeof SecretsServiceService>;

beforeAll(async () => {
  harness = await startHarness();
  const { grpcAddress: address } = await harness.start();
  const options = {
    address,
    minter: harness.tokens.minterTo("integrations"),
    defaultTimeoutMs: TIMEOUT_MS,
  };
  agents = createRpcClient(AgentsServiceService, options);
  connections = createRpcClient(ConnectionsServiceService, options);
  secrets = createRpcClient(SecretsServiceService, options);
});
afterAll(async () => {
  for (const client of [agents, connections, secrets]) client?.close();
  await harness?.close();
});

/** Something that a company changes, and the lock for which its changes wait. */
interface Change {
  write: (index: number) => Promise<unknown>;
  lock: (transaction: Transaction) => Promise<unknown>;
}

function createAgent(identity: Identity, name: string) {
  const request = { name, type: AgentType.CUSTOM, systemPrompt: "Answer." };
  return agents.createAgent(request, { identity });
}

function agentsMade(identity: Identity): Promise<Change> {
  return Promise.resolve({
    write: (index) => createAgent(identity, `Agent ${index}`),
    lock: (transaction) => lockAgentsOf(transaction, identity.companyId),
  });
}

async function agentChanged(identity: Identity): Promise<Change> {
  const { id: agentId } = await createAgent(identity, "Reader");
  return {
    write: () =>
      agents.updateAgent({ agentId, type: AgentType.UNSPECIFIED, temperature: 1 }, { identity }),
    lock: (transaction) => lockAgent(transaction, { companyId: identity.companyId, agentId }),
  };
}

async function secretReplaced(identity: Identity): Promise<Change> {
  const place = { workflowId: newUuid(), key: "TOKEN" };
  await secrets.createSecret({ ...place, value: "first" }, { identity });
  return {
    write: (index) => secrets.replaceSecret({ ...place, value: `value ${index}` }, { identity }),
    lock: (transaction) =>
      transaction.query(sql.type(nothing)`
        select from integrations.secrets where company_id = ${identity.companyId} for update
      `),
  };
}

function connectionsMade(identity: Identity): Promise<Change> {
  return Promise.resolve({
    write: (index) => {
      const request = { provider: "finance", name: "Books", externalAccountId: `books-${index}` };
      return connections.createConnection(
        { ...request, metadataJson: "", publicOrigin: "" },
        { identity },
      );
    },
    lock: (transaction) => lockConnectionsOf(transaction, identity.companyId),
  });
}

it.each([
  ["agents are made", agentsMade],
  ["an agent is changed", agentChanged],
  ["a secret is replaced", secretReplaced],
  ["connections are made", connectionsMade],
])("others' calls end while one company's wait for each other: %s", async (_what, prepare) => {
  const [identity, stranger] = [newIdentity(SCOPES), newIdentity(SCOPES)];
  const { write, lock } = await prepare(identity);
  let ended = 0;
  const all = await harness.database.transaction(async (transaction) => {
    await lock(transaction);
    const written = Array.from({ length: PLACES + BEYOND }, async (_, index) => {
      await write(index);
      ended += 1;
    });
    const settled = Promise.allSettled(written);
    const refused = await errorOf(Promise.race(written));
    expect(refused).toMatchObject({
      reason: "RATE_LIMITED",
      details: { limit: "writes" },
      retryAfterMs: 1_000,
    });
    const { id: agentId } = await createAgent(stranger, "Reader");
    expect(await agents.getAgent({ agentId }, { identity: stranger })).toMatchObject({
      name: "Reader",
    });
    expect(ended).toBe(0);
    return { settled };
  });
  const outcomes = await all.settled;
  const count = (status: string) => outcomes.filter((each) => each.status === status).length;
  expect([count("fulfilled"), count("rejected")]).toEqual([PLACES, BEYOND]);
});

it("others' calls end while one company's lists of agents wait for the database", async () => {
  const [identity, stranger] = [newIdentity(SCOPES), newIdentity(SCOPES)];
  let ended = 0;
  const lists = await harness.database.transaction(async (transaction) => {
    await transaction.query(sql.type(nothing)`
      lock table integrations.agents in access exclusive mode
    `);
    const all = Array.from({ length: 30 }, async () => {
      await agents.listAgents(WHOLE_LIST, { identity });
      ended += 1;
    });
    const settled = Promise.all(all);
    await waitFor(async () => (await countWaiting(transaction)) >= READ_AT_A_TIME);
    await secrets.listSecrets({ workflowId: newUuid() }, { identity: stranger });
    expect(await countWaiting(transaction)).toBe(READ_AT_A_TIME);
    expect(ended).toBe(0);
    return { settled };
  });
  await lists.settled;
});

/** How many queries wait for the agents. */
async function countWaiting(transaction: Transaction): Promise<number> {
  const { count } = await transaction.one(sql.type(z.object({ count: z.number() }))`
    select count(*) as count
    from pg_locks
    where relation = 'integrations.agents'::regclass and not granted
  `);
  return count;
}
