import { parseArgs } from "node:util";
import { z } from "zod";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { makeCallers } from "./callers.ts";
import { startLoad } from "./load-client.ts";
import type { Load } from "./load-client.ts";
import type { LoadRequest } from "./load-protocol.ts";
import { residentMb } from "./memory.ts";
import { createActiveWorkflow, fetchText, getRequest, postRequest, runRequest } from "./rest.ts";
import { medianOf } from "./statistics.ts";
import { startSystem } from "./system.ts";
import type { System } from "./system.ts";

const USAGE = `npm run soak -- [minutes] [--callers n]

  minutes    of load, 30 by default; a fraction will do
  --callers  API keys that are used in turn, 10,000 by default

Loads the system with reads and some writes, samples the memory of its process, and fails when that has
grown by more than 10 % from the first third of the samples to the last.`;

const CONNECTIONS = 16;
const GROWTH_MAX = 0.1;
/** The share of the time before the first sample, in which caches fill up and code is compiled. */
const WARM_UP_SHARE = 0.2;
const WARM_UP_MS_MAX = 180_000;
const SAMPLES = 15;
const WORKFLOWS = 20;
/**
 * A caller's request goes by its place among 20; these places do something else than read a workflow.
 */
const MIX = 20;
const LISTS_WORKFLOWS = [14, 15, 16];
const LISTS_RUNS = [17];
const STARTS_A_RUN = [18];
const CHANGES_A_WORKFLOW = [19];

const created = z.object({ data: z.object({ id: z.string() }) });

interface Sample {
  /** The resident set of the process in MB, after garbage collection. */
  residentMb: number;
  /** The part of it that JavaScript and buffers hold. */
  heldMb: number;
}

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const { minutes, callers } = readSoakOptions(args);
  if (!(minutes > 0) || !Number.isInteger(callers) || callers < CONNECTIONS) {
    console.error(USAGE);
    return 2;
  }
  let samples: Sample[];
  try {
    await using scope = createScope();
    samples = await soak(scope, minutes * 60_000, callers);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
  const growth = growthOf(samples);
  const verdict = growth <= GROWTH_MAX ? "pass" : "FAIL";
  console.log(`RSS growth: ${(growth * 100).toFixed(1)} %, at most 10 %: ${verdict}`);
  return growth <= GROWTH_MAX ? 0 : 1;
}

function readSoakOptions(args: readonly string[]): { minutes: number; callers: number } {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { callers: { type: "string", default: "10000" } },
    allowPositionals: true,
  });
  return { minutes: Number(positionals[0] ?? "30"), callers: Number(values.callers) };
}

async function soak(scope: Scope, durationMs: number, callers: number): Promise<Sample[]> {
  console.log("Starting the system");
  const system = await startSystem(scope);
  const load = startLoad(scope);
  const requests = await mixedRequests(system, callers);
  const warmUpMs = Math.min(durationMs * WARM_UP_SHARE, WARM_UP_MS_MAX);
  await send(load, requests, warmUpMs);
  const samples: Sample[] = [];
  for (let sample = 1; sample <= SAMPLES; sample += 1) {
    const { perSecond, p99Ms } = await send(load, requests, (durationMs - warmUpMs) / SAMPLES);
    const heldMb = await system.collectGarbage();
    const taken = { residentMb: residentMb(system.pid), heldMb };
    samples.push(taken);
    console.log(
      `${sample}/${SAMPLES}: RSS ${taken.residentMb.toFixed(0)} MB, held ${heldMb.toFixed(0)} MB, ` +
        `${perSecond.toFixed(0)} requests/s, p99 ${p99Ms.toFixed(0)} ms`,
    );
  }
  return samples;
}

function send(load: Load, requests: LoadRequest[], afterMs: number) {
  const [request] = requests;
  if (request === undefined) throw new Error("There is nothing to send.");
  const job = { request, variety: requests, connections: CONNECTIONS, stop: { afterMs } };
  return load({ model: "closed", ...job });
}

/**
 * The growth from the first third to the last, by their medians: a single sample says little about an allocator.
 */
function growthOf(samples: readonly Sample[]): number {
  const third = Math.floor(samples.length / 3);
  const typical = (part: readonly Sample[]): number =>
    medianOf(part, (sample) => sample.residentMb);
  return typical(samples.slice(-third)) / typical(samples.slice(0, third)) - 1;
}

/** One request for each caller: most of them read, and some start runs or change a workflow. */
async function mixedRequests(system: System, callers: number): Promise<LoadRequest[]> {
  const workflowIds: string[] = [];
  for (let index = 0; index < WORKFLOWS; index += 1) {
    workflowIds.push(await createActiveWorkflow(system, `Soak ${index}`));
  }
  const change = await draftChange(system);
  const keys = await makeCallers(system, callers);
  return keys.map((key, index) => {
    const workflowId = workflowIds[index % WORKFLOWS] ?? "";
    const place = index % MIX;
    let request = getRequest(system, `/workflows/${workflowId}`);
    if (LISTS_WORKFLOWS.includes(place)) request = getRequest(system, "/workflows?limit=20");
    if (LISTS_RUNS.includes(place)) {
      request = getRequest(system, `/runs?workflowId=${workflowId}&limit=20`);
    }
    if (STARTS_A_RUN.includes(place)) request = runRequest(system, workflowId, "async");
    if (CHANGES_A_WORKFLOW.includes(place)) request = change;
    return { ...request, headers: { ...request.headers, "x-api-key": key } };
  });
}

/** A write that repeats for ever: it changes a draft in place. */
async function draftChange(system: System): Promise<LoadRequest> {
  const body = { name: "Draft", trigger: { type: "api" }, steps: [] };
  const creation = postRequest(system, "/workflows", body);
  const { data } = created.parse(JSON.parse(await fetchText(creation)));
  return { ...creation, method: "PUT", url: `${creation.url}/${data.id}` };
}
