import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { CheckedOutCommit, HttpDouble } from "@workflow/testkit";
import { PARTS } from "../../deploy/dev/src/topology.ts";
import { callApi } from "../support/api-client.ts";
import { makeEndpoint, receivedBy } from "../support/received-webhooks.ts";
import {
  createActive,
  delay,
  getWorkflow,
  postRun,
  runIdOf,
  runToEnd,
  startRun,
  transform,
  waitForFirstRun,
  waitForRun,
} from "../support/scenarios.ts";
import { makeTable, rowsOf } from "../support/tables.ts";
import { startReplicatedSystem } from "../support/whole-system.ts";
import type { ReplicatedSystem } from "../support/whole-system.ts";
import { checkOutBaseline } from "./support/baseline.ts";

/*
 * The middle of an upgrade, and the way back from it (docs/ops/upgrades.md): the schema is this tree's, the
 * first process of each part is this tree's as well, the second one is the baseline's. All call each other.
 */

const TIMEOUT_MS = 500_000;
const PATIENCE_MS = 150_000;
const REPLICAS = { workflows: 2, integrations: 2 } as const;
/** Calls are spread over both processes of a part, so that some rounds meet each pair. */
const ROUNDS = 4;
/** Long enough for the first processes to stop while the run rests. */
const REST_MS = 30_000;
const NEW = "gateway-1";
const OLD = "gateway-2";

let baseline: CheckedOutCommit;
let receiver: HttpDouble;
let system: ReplicatedSystem;
const lines: string[] = [];
beforeAll(async () => {
  baseline = await checkOutBaseline();
  receiver = await startHttpDouble(() => ({ status: 200, body: {} }));
  system = await startReplicatedSystem(
    {},
    {
      replicas: REPLICAS,
      onLine: (line) => void lines.push(line),
      rootOf: (process) => (process.endsWith("-2") ? baseline.root : undefined),
    },
  );
}, TIMEOUT_MS);
afterAll(async () => {
  await system?.stop();
  await receiver?.close();
  await baseline?.remove();
}, TIMEOUT_MS);

/** The system as callers of one gateway see it. */
function through(gateway: string): ReplicatedSystem {
  const origin = system.apart.originOf(gateway);
  return {
    ...system,
    origin,
    call: (method, path, options = {}) =>
      callApi(`${origin}/api/v1${path}`, method, { key: system.acme.key, ...options }),
  };
}

/** A workflow is made, switched on, read and run in each way; ids of the runs that ended. */
async function playRuns(at: ReplicatedSystem, url: string): Promise<string[]> {
  const steps = [transform("done", "{{input.name}}")];
  const id = await createActive(at, { steps });
  await makeEndpoint(at, at.acme.key, { url, workflowIds: [id], events: ["workflow.completed"] });
  expect(await getWorkflow(at, id)).toMatchObject({ id, status: "active" });
  const ended = await runToEnd(at, id, { name: "Ada" });
  expect(ended).toMatchObject({ status: "completed", output: "Ada" });
  const sync = await postRun(at, id, { input: { name: "Bob" }, mode: "sync" });
  expect(sync).toMatchObject({ status: 200, data: { status: "completed", output: "Bob" } });
  const ids = [ended.id, runIdOf(sync)];
  const path = `beside-${crypto.randomUUID()}`;
  const hookedId = await createActive(at, {
    steps,
    trigger: { type: "webhook", path },
  });
  const sent = await fetch(`${at.origin}/webhooks/custom/${at.acme.id}/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Eve" }),
  });
  expect({ status: sent.status, text: await sent.text() }).toMatchObject({ status: 200 });
  const hooked = await waitForRun(at, await waitForFirstRun(at, hookedId));
  expect(hooked.status).toBe("completed");
  return ids;
}

/** A table is made, written and asked. */
async function playTables(at: ReplicatedSystem): Promise<void> {
  const columns = [{ name: "n", type: "number" }];
  const { id } = await makeTable(at, at.acme.key, { columns, rows: [{ n: 1 }] });
  const path = `/tables/${id}/rows`;
  const added = await at.call("POST", path, { body: { data: { n: 2 } } });
  expect(added).toMatchObject({ status: 201, error: undefined });
  const body = { filter: { n: { values: [2] } } };
  const found = await at.call("POST", `${path}/query`, { body });
  expect(rowsOf(found)).toMatchObject([{ data: { n: 2 } }]);
}

/** All calls of the list, some times through one gateway; every event of a run is delivered. */
async function play(gateway: string): Promise<void> {
  const at = through(gateway);
  for (let round = 0; round < ROUNDS; round += 1) {
    const url = `${receiver.url}/${gateway}-${crypto.randomUUID()}`;
    const runIds = await playRuns(at, url);
    await playTables(at);
    expect(await at.call("GET", "/agents")).toMatchObject({ status: 200, error: undefined });
    await waitFor(
      () => {
        const bodies = receivedBy(receiver, { url }).map(({ bodyBytes }) => bodyBytes.toString());
        return runIds.every((id) => bodies.some((body) => body.includes(id)));
      },
      { timeoutMs: PATIENCE_MS, what: `deliveries of ${gateway}` },
    );
  }
}

/** How often something has been counted by a process, over all labels. */
async function countAt(process: string, metric: string): Promise<number> {
  const { place, ports } = system.apart.parts.named(process).plan;
  const response = await fetch(`http://${place.host}:${ports.get("METRICS_PORT") ?? 0}/metrics`);
  const counts = (await response.text()).matchAll(new RegExp(`^${metric}(?:{.*})? (\\d+)`, "gm"));
  return Array.from(counts, ([, count]) => Number(count)).reduce((sum, each) => sum + each, 0);
}

it(
  "the baseline's processes serve beside this tree's on its schema, and go on alone with what these began",
  async () => {
    await Promise.all([play(NEW), play(OLD)]);

    for (const { name, listens } of PARTS) {
      if (!listens.some(({ protocol }) => protocol === "grpc")) continue;
      for (const process of [`${name}-1`, `${name}-2`]) {
        const calls = await countAt(process, "rpc_request_duration_seconds_count");
        expect([process, calls > 0]).toEqual([process, true]);
      }
    }
    const plain = await createActive(system, { steps: [transform("done", 1)] });
    for (const worker of ["runs-worker-1", "runs-worker-2"]) {
      await waitFor(
        async () => {
          expect((await runToEnd(system, plain)).status).toBe("completed");
          return (await countAt(worker, "runs_ended_total")) > 0;
        },
        { timeoutMs: PATIENCE_MS, what: `${worker} to end a run` },
      );
    }

    // The way back. Runs that either worker began rest meanwhile.
    const resting = await createActive(through(NEW), {
      steps: [transform("a", 1), delay("rest", REST_MS), transform("done", "{{steps.a.output}}")],
    });
    const begun = await Promise.all(
      Array.from({ length: 10 }, () => startRun(through(NEW), resting)),
    );
    for (const id of begun) await waitForRun(through(NEW), id, ["suspended", "completed"]);
    await Promise.all(PARTS.map(({ name }) => system.apart.parts.named(`${name}-1`).stop()));
    await play(OLD);
    for (const id of begun) {
      expect(await waitForRun(through(OLD), id)).toMatchObject({ status: "completed", output: 1 });
    }
    expect(lines.filter((line) => line.includes("has ended ("))).toEqual([]);
  },
  TIMEOUT_MS,
);
