import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { PARTS } from "../../deploy/dev/src/topology.ts";
import { createActive, delay, transform } from "../support/scenarios.ts";
import { makeTable } from "../support/tables.ts";
import { startReplicatedSystem } from "../support/whole-system.ts";
import type { ReplicatedSystem } from "../support/whole-system.ts";
import { startLoad } from "./support/steady-load.ts";
import type { Kind, SteadyLoad } from "./support/steady-load.ts";

/*
 * A rolling restart under load: every process gets SIGTERM and is started again, one after the other, while
 * callers go on. No request may fail, and no caller repeats one.
 */

const TIMEOUT_MS = 400_000;
const PATIENCE_MS = 150_000;
/** Two of each, as deploy/kubernetes has. */
const REPLICAS = { workflows: 2, integrations: 2 } as const;
/** Half of the processes at a time, so that each part is met by callers that stop as well. */
const WAVES = [1, 2] as const;

let system: ReplicatedSystem;
let load: SteadyLoad | undefined;
const lines: string[] = [];
beforeAll(async () => {
  const onLine = (line: string): void => void lines.push(line);
  system = await startReplicatedSystem(
    {},
    { replicas: REPLICAS, onLine, environment: { STOP_DELAY_MS: "2000" } },
  );
}, TIMEOUT_MS);
afterAll(async () => {
  // A test that has failed leaves its callers behind: they would go on for ever.
  await load?.stop();
  await system?.stop();
}, TIMEOUT_MS);

/** Lets a process stop in an orderly way, and waits until the next one has all that it needs. */
async function restart(name: string): Promise<void> {
  const each = system.apart.parts.named(name);
  const pid = each.pid();
  each.kill("SIGTERM");
  const isReplaced = async (): Promise<boolean> => {
    if (each.pid() === pid) return false;
    const { missing, impaired } = await each.state();
    return missing.length + impaired.length === 0;
  };
  await waitFor(isReplaced, { timeoutMs: PATIENCE_MS, what: `${name} to be replaced` });
}

/** What callers ask for while parts are restarted: at least one thing of each part. */
async function makeKinds(): Promise<{ kinds: Kind[]; tableId: string; hookedId: string }> {
  const steps = [transform("done", "{{input.name}}")];
  const workflowId = await createActive(system, { steps });
  const slowId = await createActive(system, { steps: [delay("pause", 300), ...steps] });
  const path = `upgrades-${crypto.randomUUID()}`;
  const hookedId = await createActive(system, { steps, trigger: { type: "webhook", path } });
  const { id: tableId } = await makeTable(system, system.acme.key, {
    columns: [{ name: "n", type: "number" }],
  });
  const reads = [
    "workflows",
    `workflows/${workflowId}`,
    "runs",
    "agents",
    `tables/${tableId}/rows`,
  ];
  const input = { name: "Ada" };
  const run = (id: string) => ({ method: "POST", path: `/api/v1/workflows/${id}/run` }) as const;
  return {
    tableId,
    hookedId,
    kinds: [
      ...reads.map((read): Kind => {
        return { name: `read ${read}`, method: "GET", path: `/api/v1/${read}`, expected: [200] };
      }),
      {
        ...run(workflowId),
        name: "async",
        body: { input },
        expected: [202],
        startsRun: true,
      },
      // A gateway or runs service that stops tells who waits which run it is: 202.
      {
        ...run(slowId),
        name: "sync",
        body: { input, mode: "sync" },
        expected: [200, 202],
        startsRun: true,
      },
      {
        name: "row",
        method: "POST",
        path: `/api/v1/tables/${tableId}/rows`,
        body: { data: { n: 1 } },
        expected: [201],
      },
      {
        name: "webhook",
        method: "POST",
        path: `/webhooks/custom/${system.acme.id}/${path}`,
        body: {},
        expected: [200],
      },
    ],
  };
}

it(
  "every part may be restarted in turn without a failed request, a lost run, row or event",
  async () => {
    const { kinds, tableId, hookedId } = await makeKinds();
    load = startLoad(system, kinds);
    for (const wave of WAVES) {
      await Promise.all(PARTS.map(({ name }) => restart(`${name}-${wave}`)));
    }
    await load.stop();
    const { answered, failed, runIds } = load.seen;
    expect(failed).toEqual([]);
    expect([...answered.keys()].toSorted()).toEqual(kinds.map(({ name }) => name).toSorted());
    const ends = lines.filter((line) => line.includes("has ended ("));
    expect(ends.filter((line) => !line.includes("has ended (exit code 0)"))).toEqual([]);
    expect(ends).toHaveLength(2 * PARTS.length);

    const rows = await system.call("GET", `/tables/${tableId}/rows?limit=1`);
    expect(rows.rowsMeta).toMatchObject({ total: answered.get("row") });
    const completed = sql.type(z.object({ count: z.number() }))`
      select count(*)::integer as count from runs.runs
      where status = 'completed'
        and (id = any(${sql.array([...runIds], "text")}) or workflow_id = ${hookedId})
    `;
    const accepted = runIds.length + (answered.get("webhook") ?? 0);
    await waitFor(
      async () => {
        expect(await system.database.one(completed)).toEqual({ count: accepted });
      },
      { timeoutMs: PATIENCE_MS, what: "every accepted run to end" },
    );
  },
  TIMEOUT_MS,
);
