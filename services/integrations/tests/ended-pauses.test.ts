import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import type { Transaction } from "@workflow/db";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { z } from "zod";
import { changeConnection } from "../src/store/connection-changes.ts";
import { listPauses, pauseConnection } from "../src/store/connection-pauses.ts";
import {
  failureOf,
  personOf,
  runsOf,
  startActionsHarness,
  stepCall,
} from "./support/actions-harness.ts";
import type { ActionsClient, ActionsHarness, TestConnection } from "./support/actions-harness.ts";

let harness: ActionsHarness;
let client: ActionsClient;
let server: HttpDouble;
let handler: DoubleHandler;

const tooMany: DoubleHandler = () => ({
  status: 429,
  headers: { "retry-after": "300" },
  body: { error: { code: "rate_limit", message: "Slow down" } },
});
/** Connected by keys: removed when it is deleted. */
const rillet: TestConnection = { provider: "rillet", credentials: { apiKey: "rl_canary" } };
/** Authorized by a person: kept as disconnected. */
const stripe: TestConnection = { provider: "stripe", credentials: { accessToken: "sk_canary" } };

beforeAll(async () => {
  server = await startHttpDouble((request, response) => handler(request, response));
  harness = await startActionsHarness();
  const baseUrl = server.url;
  client = await harness.start({
    providers: new Map([
      ["stripe", { baseUrl }],
      ["rillet", { baseUrl }],
    ]),
  });
});
beforeEach(() => {
  handler = tooMany;
});
afterAll(async () => {
  await harness.close();
  await server.close();
});

async function pausesOf(connectionId: string): Promise<number> {
  const rows = await harness.database.any(sql.type(z.object({ one: z.number() }))`
    select 1 as one from integrations.connection_pauses where connection_id = ${connectionId}
  `);
  return rows.length;
}

const calls = {
  rillet: { action: "rillet.listCustomers" },
  stripe: { action: "stripe.getCustomer", inputsJson: '{"customer":"cus_1"}' },
};

describe.each([
  ["removed", rillet, calls.rillet],
  ["disconnected", stripe, calls.stripe],
])("a paused connection that is %s", (_, connection, call) => {
  it("takes its pause along", async () => {
    const identity = runsOf();
    const connectionId = await harness.connect(identity.companyId, connection);
    const { outcome } = await client.executeAction(stepCall(call), { identity });
    expect(outcome?.$case).toBe("pause");
    expect(await pausesOf(connectionId)).toBe(1);
    await client.deleteConnection({ connectionId }, { identity: personOf(identity.companyId) });
    expect(await pausesOf(connectionId)).toBe(0);
  });

  it("is not paused by an answer that comes afterwards; the step learns that it is gone", async () => {
    const identity = runsOf();
    const connectionId = await harness.connect(identity.companyId, connection);
    handler = async (request, response) => {
      await client.deleteConnection({ connectionId }, { identity: personOf(identity.companyId) });
      return tooMany(request, response);
    };
    const answer = await client.executeAction(stepCall(call), { identity });
    expect(failureOf(answer)).toMatchObject({ code: "CONNECTION_NOT_FOUND", retryable: false });
    expect(await pausesOf(connectionId)).toBe(0);
  });
});

/** What `other` comes to that begins while the transaction of `first` is open, and ends after it. */
async function beside<Result>(
  first: (transaction: Transaction) => Promise<unknown>,
  other: () => Promise<Result>,
): Promise<Result> {
  const begun = Promise.withResolvers<null>();
  const released = Promise.withResolvers<null>();
  const transaction = harness.database.transaction(async (open) => {
    await first(open);
    begun.resolve(null);
    await released.promise;
  });
  await Promise.race([begun.promise, transaction]);
  let isOver = false;
  const outcome = other().finally(() => {
    isOver = true;
  });
  await waitFor(async () => {
    const waiting = await harness.database.any(sql.type(z.object({ one: z.number() }))`
      select 1 as one from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
    `);
    return isOver || waiting.length > 0;
  });
  released.resolve(null);
  await transaction;
  return outcome;
}

describe("a pause that is begun beside the end of its connection", () => {
  const begin = async () => {
    const { companyId } = runsOf();
    const connectionId = await harness.connect(companyId, stripe);
    return { companyId, connectionId, retryAfterMs: 300_000, ageMs: 0 };
  };

  it("comes to nothing where the end was first", async () => {
    const report = await begin();
    const ended = { credentials: null, brokerConnectionId: null };
    const turn = await beside(
      (transaction) => changeConnection(transaction, report, "disconnected", ended),
      () => pauseConnection(harness.database, report),
    );
    expect(turn).toBeNull();
    expect(await pausesOf(report.connectionId)).toBe(0);
  });

  it("goes with the connection where it was first", async () => {
    const report = await begin();
    const { companyId, connectionId } = report;
    await beside(
      (transaction) => pauseConnection(transaction, report),
      () => client.deleteConnection({ connectionId }, { identity: personOf(companyId) }),
    );
    expect(await pausesOf(connectionId)).toBe(0);
  });
});

describe("pauses beyond those that a replica remembers", () => {
  const pausesFor = async (
    companyId: string,
    count: number,
    seconds: number,
  ): Promise<string[]> => {
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const connectionId = await harness.connect(companyId, stripe);
      const report = { companyId, connectionId, retryAfterMs: seconds * 1_000, ageMs: 0 };
      await pauseConnection(harness.database, report);
      ids.push(connectionId);
    }
    return ids;
  };

  it("are those of whoever has the most: no company's push out another's", async () => {
    await harness.database.query(sql.unsafe`delete from integrations.connection_pauses`);
    const [one] = await pausesFor(newUuid(), 1, 60);
    const many = await pausesFor(newUuid(), 4, 3_000);
    const known = await listPauses(harness.database, { limit: 3, perCompany: 10 });
    const ids = known.map(({ connectionId }) => connectionId);
    expect(ids).toContain(one);
    expect(many.filter((id) => ids.includes(id))).toHaveLength(2);
    const bounded = await listPauses(harness.database, { limit: 10, perCompany: 2 });
    expect(bounded).toHaveLength(3);
  });
});
