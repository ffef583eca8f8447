import { readFile } from "node:fs/promises";
import { ApiClient, ApiError } from "../order-intake/client.ts";
import type { Workflow } from "../order-intake/client.ts";

/** The fields of the API's answers that the example looks at. */
interface Agent {
  id: string;
  name: string;
  version: number;
  model: string;
}

interface Evaluation {
  passed: number;
  total: number;
  results: { name: string; passed: boolean; reason: string | null }[];
  usage: { totalTokens: number };
}

interface RunReply {
  runId: string;
  status: string;
  output?: unknown;
  error?: { code: string; message: string };
}

const TICKET = "Since ten minutes every call of your API answers 500. Nobody can pay!";

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
  try {
    const agent = await prepareAgent(api);
    console.log(`Agent ${agent.name}, version ${agent.version}, asks ${agent.model}\n`);
    const isGood = await judge(api, agent);
    return (await triage(api, agent)) && isGood ? 0 : 1;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    console.error(error.message);
    if (error.message.includes("NOT_CONFIGURED")) {
      console.error(
        "Start the service with OPENAI_API_KEY=… npm start, and run the example again.",
      );
    }
    return 1;
  }
}

/** The example's agent, as in agent.json; made on the first run. */
async function prepareAgent(api: ApiClient): Promise<Agent> {
  const wanted = await readJson<{ name: string }>("agent.json");
  const query = new URLSearchParams({ search: wanted.name, includeBuiltIn: "false" });
  const found = await api.call<Agent[]>("GET", `/agents?${query.toString()}`);
  const known = found.find(({ name }) => name === wanted.name);
  if (known === undefined) return api.call<Agent>("POST", "/agents", wanted);
  return api.call<Agent>("PUT", `/agents/${known.id}`, wanted);
}

/** Asks for all cases and prints which answers are as expected. */
async function judge(api: ApiClient, { id }: Agent): Promise<boolean> {
  const cases = await readJson<object>("cases.json");
  const evaluation = await api.call<Evaluation>("POST", `/agents/${id}/evaluate`, cases);
  for (const { name, passed, reason } of evaluation.results) {
    console.log(`${passed ? "passed" : "FAILED"}  ${name}${passed ? "" : `: ${reason}`}`);
  }
  const { passed, total, usage } = evaluation;
  console.log(`${passed} of ${total} cases passed, ${usage.totalTokens} tokens\n`);
  return passed === total;
}

/** Runs the workflow for one ticket and prints what was decided. */
async function triage(api: ApiClient, { id: sorterId }: Agent): Promise<boolean> {
  const workflow = await prepareWorkflow(api);
  const run = await api.call<RunReply>("POST", `/workflows/${workflow.id}/run`, {
    input: { sorterId, ticket: TICKET },
    mode: "sync",
    maxExecutionTimeMs: 120_000,
  });
  console.log(`Run ${run.runId}: ${run.status}`);
  if (run.status === "completed") console.log(JSON.stringify(run.output, null, 2));
  return run.status === "completed";
}

/** The example's workflow, active and as in workflow.json; made on the first run. */
async function prepareWorkflow(api: ApiClient): Promise<Workflow> {
  const definition = await readJson<{ name: string }>("workflow.json");
  const query = new URLSearchParams({ search: definition.name, limit: "100" });
  const found = await api.call<Workflow[]>("GET", `/workflows?${query.toString()}`);
  const known = found.find(({ name, status }) => name === definition.name && status !== "archived");
  const workflow =
    known === undefined
      ? await api.call<Workflow>("POST", "/workflows", definition)
      : await api.call<Workflow>("PUT", `/workflows/${known.id}`, definition);
  if (workflow.status !== "active") await api.call("POST", `/workflows/${workflow.id}/activate`);
  return workflow;
}

async function readJson<Content>(path: string): Promise<Content> {
  return JSON.parse(await readFile(new URL(path, import.meta.url), "utf8"));
}
