import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { migrate } from "@workflow/db";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { LocalPostgres } from "@workflow/local-postgres";
import { waitFor } from "@workflow/testkit";
import { callApi } from "../support/api-client.ts";
import {
  createActive,
  createWorkflow,
  delay,
  listRuns,
  postRun,
  runIdOf,
  runToEnd,
  startRun,
  transform,
  waitForRun,
} from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const SERVICES = ["gateway", "workflows", "runs", "tables", "integrations", "webhooks"];
const RUNS = 30;

let dataDir: string;
let postgres: LocalPostgres;
let system: WholeSystem;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "postgres-away-"));
  postgres = await startLocalPostgres({ dataDir, durable: true });
  await migrate({
    connectionUri: postgres.connectionUri,
    services: SERVICES.map((schema) => ({
      schema,
      role: `workflow_${schema}`,
      directory: join(import.meta.dirname, "../../services", schema, "migrations"),
    })),
  });
  system = await startWholeSystem({ databaseUrl: postgres.connectionUri, leaseMs: 2_000 });
});
afterAll(async () => {
  await system.stop();
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function bringBack(): Promise<void> {
  const { port } = postgres;
  postgres = await startLocalPostgres({ dataDir, durable: true });
  expect(postgres.port).toBe(port);
  const serves = async () => (await system.call("GET", "/workflows")).status === 200;
  await waitFor(serves, { timeoutMs: 60_000, what: "the system to serve again" });
}

const ways: [string, () => Promise<unknown>][] = [
  ["is stopped", () => postgres.stop()],
  [
    "dies",
    () => {
      process.kill(postgres.pid, "SIGKILL");
      return postgres.exited;
    },
  ],
];

/** A method, a path below `/api/v1` and a body. */
type UnsentRequest = readonly [method: string, path: string, body: unknown];

/** A request while Postgres is away gets 503, a time to come again, and no word about Postgres. */
async function expectUnavailable([method, path, body]: UnsentRequest): Promise<void> {
  const key = path.endsWith("unknown-key") ? `wfk_${"u".repeat(32)}` : system.acme.key;
  const answer = await system.call(method, path, { key, body });
  expect(answer).toMatchObject({ status: 503, error: { code: "UNAVAILABLE" } });
  expect(answer.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  expect(answer.text).not.toMatch(/ECONN|postgres|sql/i);
}

describe.each(ways)("while Postgres is away, because it %s", (_way, takeAway) => {
  it("requests get 503, accepted runs end once it is back, and everything works again by itself", async () => {
    const workflowId = await createActive(system, {
      steps: [delay("nap", 300), transform("out", "{{input.n}}")],
    });
    const accepted: string[] = [];
    for (let n = 0; n < RUNS; n += 1) accepted.push(await startRun(system, workflowId, { n }));
    const body = { idempotencyKey: "through the outage", input: { n: RUNS } };
    const keyed = runIdOf(await postRun(system, workflowId, body));
    const waiting = postRun(system, workflowId, { mode: "sync", input: { n: RUNS + 1 } });

    await takeAway();
    const requests: UnsentRequest[] = [
      ["GET", "/workflows", undefined],
      ["GET", `/workflows/${workflowId}`, undefined],
      ["GET", "/runs", undefined],
      ["GET", `/runs/${keyed}`, undefined],
      ["POST", "/workflows", { name: "x", trigger: { type: "api" }, steps: [transform("a", 1)] }],
      ["PUT", `/workflows/${workflowId}`, { name: "x" }],
      ["POST", `/workflows/${workflowId}/pause`, undefined],
      ["POST", `/workflows/${workflowId}/run`, {}],
      ["POST", `/workflows/${workflowId}/run`, body],
      ["POST", `/runs/${keyed}/cancel`, undefined],
      // A key that no request has used yet, so that no cache has it.
      ["GET", "/workflows?unknown-key", undefined],
    ];
    await Promise.all(requests.map(expectUnavailable));
    expect((await callApi(`${system.origin}/livez`, "GET", {})).status).toBe(200);
    const notReady = async () => {
      const answer = await callApi(`${system.origin}/readyz`, "GET", {});
      return answer.status === 503 && answer.error?.code === "UNAVAILABLE";
    };
    await waitFor(notReady, { what: "/readyz to tell" });

    await bringBack();
    expect([200, 202, 503]).toContain((await waiting).status);
    for (const [n, runId] of accepted.entries()) {
      expect(await waitForRun(system, runId)).toMatchObject({ status: "completed", output: n });
    }
    const again = await postRun(system, workflowId, body);
    expect(again).toMatchObject({ status: 200, data: { run_id: keyed } });
    expect(await waitForRun(system, keyed)).toMatchObject({ status: "completed" });
    const { items } = await listRuns(system, `/workflows/${workflowId}/runs?limit=100`);
    // The requests that got 503 started nothing.
    expect(items.length).toBeLessThanOrEqual(RUNS + 2);

    const { id } = await createWorkflow(system);
    expect((await system.call("POST", `/workflows/${id}/activate`)).status).toBe(200);
    expect(await runToEnd(system, id, { name: "Ada" })).toMatchObject({
      output: { text: "Hello Ada" },
    });
    const ready = async () => (await callApi(`${system.origin}/readyz`, "GET", {})).status === 200;
    await waitFor(ready, { what: "/readyz to tell" });
  });
});
