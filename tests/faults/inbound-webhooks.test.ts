import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createScope } from "@workflow/async";
import { newUuid, openDatabase, sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { startSeparateSystem } from "../support/separate-system.ts";
import type { ProcessName, SeparateSystem } from "../support/separate-system.ts";
import { ROUNDS } from "./support/length.ts";
import { spread, until2xx } from "./support/repeat.ts";

const POSTS = 300 * ROUNDS;
const LOAD_MS = 8_000 * ROUNDS;
const POSTS_AT_ONCE = 20;
const VICTIMS = ["webhooks", "runs-api", "integrations"] as const satisfies readonly ProcessName[];
const RECOVERY_MS = 60_000;

const scope = createScope();
let system: SeparateSystem;
let database: Database;

beforeAll(async () => {
  system = await startSeparateSystem({ webhooks: {}, integrations: {} });
  scope.defer(() => system.stop());
  database = await openDatabase({ connectionUri: system.databaseUri, applicationName: "test" });
  scope.defer(() => database.end());
});
afterAll(() => scope.close());

describe("kill -9 in turn of webhooks, runs and integrations while a sender posts", () => {
  it(
    "starts exactly one run of each event that the sender was told is received",
    async () => {
      await activeWorkflow();
      const loading = new AbortController();
      const killing = killInTurn(loading.signal);
      await spread({ count: POSTS, width: POSTS_AT_ONCE, withinMs: LOAD_MS }, (n) => post(n));
      loading.abort();
      const kills = await killing;
      expect(kills).toBeGreaterThanOrEqual(VICTIMS.length);
      await waitFor(
        async () => {
          expect((await runsByNumber()).length).toBeGreaterThanOrEqual(POSTS);
        },
        { timeoutMs: RECOVERY_MS, intervalMs: 250, what: "a run of each event" },
      );
      await waitFor(async () => expect(await countUnsettled()).toBe(0), {
        timeoutMs: RECOVERY_MS,
        intervalMs: 250,
        what: "every event to be settled",
      });
      expect(await runsByNumber()).toEqual(
        Array.from({ length: POSTS }, (_, n) => ({ n, runs: 1 })),
      );
    },
    LOAD_MS + 2 * RECOVERY_MS + 60_000,
  );
});

/** Sends an event as often as it takes, each time with the same key. */
async function post(n: number): Promise<void> {
  const url = `${system.origin}/webhooks/custom/${system.companyId}/orders`;
  const key = newUuid();
  await until2xx(() =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ n }),
    }),
  );
}

/** Kills one process after the other until the signal, each once it was up again; returns how many. */
async function killInTurn(signal: AbortSignal): Promise<number> {
  let count = 0;
  for (; count < VICTIMS.length || !signal.aborted; count += 1) {
    await sleep(250 + Math.random() * 250);
    const victim = VICTIMS[count % VICTIMS.length] ?? "webhooks";
    await system.kill(victim, "SIGKILL");
    await system.startAndListen(victim);
  }
  return count;
}

async function activeWorkflow(): Promise<void> {
  const trigger = { type: "webhook", path: "orders" };
  const steps = [{ id: "take", type: "transform", name: "take", config: { mapping: "{{input}}" } }];
  const made = await system.call("POST", "/workflows", { name: "Orders", trigger, steps });
  expect(made.status).toBe(201);
  const activated = await system.call(
    "POST",
    `/workflows/${String(made.body.data["id"])}/activate`,
  );
  expect(activated.status).toBe(200);
}

const countedRuns = z.object({ n: z.number(), runs: z.number() });

async function runsByNumber() {
  return database.any(sql.type(countedRuns)`
    select (input ->> 'n')::integer as n, count(*)::integer as runs
    from runs.runs
    where company_id = ${system.companyId}
    group by 1
    order by 1
  `);
}

async function countUnsettled(): Promise<number> {
  return database.oneFirst(sql.type(z.object({ count: z.number() }))`
    select count(*)::integer as count
    from webhooks.inbound_events
    where status in ('received', 'processing')
  `);
}
