import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { ApiClient, ApiError } from "./client.ts";
import type { Run, Workflow } from "./client.ts";
import { startPriceListServer } from "./price-list-server.ts";

const POLL_MS = 250;
const RUN_TIMEOUT_MS = 60_000;
/** How the service refuses http and addresses of its own machine. */
const NOT_ALLOWED = ["ADDRESS_NOT_ALLOWED", "INVALID_URL"];
const UNDER_WAY = ["pending", "running", "suspended"];

process.exitCode = await main(process.env);

async function main(env: NodeJS.ProcessEnv): Promise<number> {
  const apiKey = env["API_KEY"] ?? "";
  if (apiKey === "") {
    console.error(
      "API_KEY is not set. npm start shows a key on its first start; another one comes from\n" +
        "npm run admin -- create-api-key --company ID --name example " +
        "--scopes workflows:read,workflows:write,workflows:execute,runs:read",
    );
    return 1;
  }
  const baseUrl = env["BASE_URL"] ?? "";
  const api = new ApiClient(baseUrl === "" ? "http://localhost:8080/api/v1" : baseUrl, apiKey);
  const priceList = await startPriceListServer();
  try {
    const workflow = await prepareWorkflow(api);
    console.log(`Workflow ${workflow.name} (${workflow.id})`);
    const order = await readJson("data/order.json");
    const run = await runWorkflow(api, workflow.id, { order, priceListUrl: priceList.url });
    return report(run);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.error(error.message);
    return 1;
  } finally {
    priceList.close();
  }
}

/** The example's workflow, active and as in workflow.json; made on the first run. */
async function prepareWorkflow(api: ApiClient): Promise<Workflow> {
  const definition = await readJson("workflow.json");
  const known = await findWorkflow(api, definition.name);
  const workflow =
    known === undefined
      ? await api.call<Workflow>("POST", "/workflows", definition)
      : await api.call<Workflow>("PUT", `/workflows/${known.id}`, definition);
  if (workflow.status !== "active") await api.call("POST", `/workflows/${workflow.id}/activate`);
  return workflow;
}

async function findWorkflow(api: ApiClient, name: string): Promise<Workflow | undefined> {
  const query = new URLSearchParams({ search: name, limit: "100" });
  const workflows = await api.call<Workflow[]>("GET", `/workflows?${query.toString()}`);
  return workflows.find((workflow) => workflow.name === name && workflow.status !== "archived");
}

/** Starts a run and asks for it until it has ended. */
async function runWorkflow(api: ApiClient, workflowId: string, input: object): Promise<Run> {
  const { runId } = await api.call<{ runId: string }>("POST", `/workflows/${workflowId}/run`, {
    input,
  });
  const deadline = Date.now() + RUN_TIMEOUT_MS;
  for (;;) {
    const run = await api.call<Run>("GET", `/runs/${runId}`);
    if (!UNDER_WAY.includes(run.status)) return run;
    if (Date.now() > deadline) throw new ApiError(`${runId} is still ${run.status}.`);
    await delay(POLL_MS);
  }
}

/** Prints what happened and returns the exit code. */
function report(run: Run): number {
  console.log(`Run ${run.id}: ${run.status} after ${run.durationMs} ms\n`);
  printTable([
    ["step", "type", "status", "ms"],
    ...run.stepResults.map(({ path, type, status, durationMs }) => [
      path,
      type,
      status,
      String(durationMs ?? ""),
    ]),
  ]);
  if (run.status === "completed") {
    console.log(`\nOutput:\n${JSON.stringify(run.output, null, 2)}`);
    return 0;
  }
  const codes = [run.error, ...run.stepResults.map(({ error }) => error)].map((e) => e?.code);
  console.error(`\n${run.error?.code}: ${run.error?.message}`);
  if (codes.some((code) => code !== undefined && NOT_ALLOWED.includes(code))) {
    console.error(
      "The example's price list is on this machine; by default workflows may not call it.\n" +
        "Start the service with OUTBOUND_ALLOW_PRIVATE=true npm start, and run the example again.",
    );
  }
  return 1;
}

function printTable(rows: readonly (readonly string[])[]): void {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    console.log(cells.join("   ").trimEnd());
  }
}

async function readJson(path: string): Promise<{ name: string }> {
  return JSON.parse(await readFile(new URL(path, import.meta.url), "utf8"));
}
