import { z } from "zod";
import { createActiveWorkflow, fetchText, getRequest, runRequest } from "../rest.ts";
import type { Scenario, Surroundings } from "../scenario.ts";
import type { System } from "../system.ts";

const PAGE = 50;
const WALK_PAGE = 100;
const TARGET_MS = 10;

export const listRuns: Scenario = {
  id: "k",
  title: "Lists of runs",
  method:
    "GET /runs of a company with very many stored runs (ended ones, spread over two workflows and " +
    `the statuses), ${PAGE} a page over one connection: the first page, a page in the middle whose ` +
    "cursor was found by walking there, and first pages with filters.",
  async measure(surroundings) {
    const { system, runs, sizes } = surroundings;
    const workflowId = await createActiveWorkflow(system, "Listed");
    await fetchText(runRequest(system, workflowId, "sync"));
    await runs.multiply(workflowId, sizes.storedRuns);
    const cursor = await walk(system, sizes.storedRuns / 2);
    const pages: [string, string, boolean][] = [
      ["first page", `/runs?limit=${PAGE}`, true],
      ["deep page", `/runs?limit=${PAGE}&cursor=${cursor}`, true],
      ["first page of a workflow", `/workflows/${workflowId}/runs?limit=${PAGE}`, false],
      ["first page of a rare status", `/runs?limit=${PAGE}&status=timeout`, false],
      ["first page of status active", `/runs?limit=${PAGE}&status=active`, false],
    ];
    const figures = [];
    for (const [name, path, isTarget] of pages) {
      const { p50Ms } = await readPage(surroundings, path);
      figures.push({
        name: `${name}, p50`,
        value: p50Ms,
        unit: "ms" as const,
        ...(isTarget ? { target: { atMost: TARGET_MS } } : {}),
      });
    }
    return { figures, rounds: [] };
  },
};

async function readPage({ system, load, sizes }: Surroundings, path: string) {
  const request = getRequest(system, path);
  const job = { model: "closed", request, connections: 1 } as const;
  await load({ ...job, stop: { afterMs: sizes.warmUpMs } });
  return load({ ...job, stop: { afterMs: sizes.roundMs } });
}

const page = z.object({ meta: z.object({ cursor: z.string().nullable() }) });

/** Follows cursors past this number of runs; returns the last cursor. */
async function walk(system: System, runs: number): Promise<string> {
  let cursor = "";
  for (let passed = 0; passed < runs; passed += WALK_PAGE) {
    const query = `limit=${WALK_PAGE}${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const text = await fetchText(getRequest(system, `/runs?${query}`));
    cursor = encodeURIComponent(page.parse(JSON.parse(text)).meta.cursor ?? "");
    if (cursor === "") throw new Error("The list has ended too early.");
  }
  return cursor;
}
