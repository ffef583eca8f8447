import { RunStatus } from "@workflow/proto/runs/v1/run";
import { StepStatus } from "@workflow/proto/runs/v1/steps";
import type { Run } from "@workflow/proto/runs/v1/run";
import { connect } from "./client.ts";
import type { Client } from "./client.ts";

const WAIT_MS = 30_000;

/** Definitions are JSON in the messages, in the very form of the REST API. */
const WORKFLOW = {
  name: "Greeting over gRPC",
  triggerJson: JSON.stringify({ type: "api" }),
  stepsJson: JSON.stringify([
    {
      id: "greet",
      type: "transform",
      name: "Greet",
      config: { mapping: { greeting: "Hello, {{input.name}}" } },
    },
  ]),
  inputSchemaJson: JSON.stringify({
    type: "object",
    properties: { name: { type: "string" } },
    required: ["name"],
  }),
};

process.exitCode = await main(process.env);

async function main(env: NodeJS.ProcessEnv): Promise<number> {
  const token = env["TOKEN"] ?? "";
  if (token === "") {
    console.error(
      "TOKEN is not set. Make one, with the id of a company that npm start shows:\n" +
        "npm run --silent admin -- mint-token --company ID " +
        "--scopes workflows:write,workflows:execute,runs:read",
    );
    return 1;
  }
  const client = connect({
    workflowsAddress: env["WORKFLOWS_GRPC_ADDR"] ?? "127.0.0.1:50051",
    runsAddress: env["RUNS_GRPC_ADDR"] ?? "127.0.0.1:50052",
    token,
  });
  try {
    return await demonstrate(client);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    console.error(`gRPC status ${error.code}: ${error.details}`);
    return 1;
  } finally {
    client.close();
  }
}

async function demonstrate(client: Client): Promise<number> {
  const workflow = await client.createWorkflow(WORKFLOW);
  console.log(`Workflow ${workflow.name} (${workflow.id})`);
  try {
    await client.activateWorkflow(workflow.id);
    const started = await client.runToEnd(workflow.id, { name: "Ada" }, WAIT_MS);
    return report(await client.getRun(started.id));
  } finally {
    await client.archiveWorkflow(workflow.id);
  }
}

/** Prints what happened and returns the exit code. */
function report(run: Run): number {
  console.log(`Run ${run.id}: ${nameOf(RunStatus, run.status)}`);
  for (const { path, type, status } of run.stepResults) {
    console.log(`${path} ${type} ${nameOf(StepStatus, status)}`);
  }
  if (run.status !== RunStatus.COMPLETED) {
    console.error(`${run.error?.code}: ${run.error?.message}`);
    return 1;
  }
  const output: unknown = JSON.parse(run.outputJson ?? "null");
  console.log(`Output:\n${JSON.stringify(output, null, 2)}`);
  return 0;
}

/** The name of an enum's value, in lower case. */
function nameOf(values: Readonly<Record<string, number>>, value: number): string {
  const found = Object.entries(values).find(([, number]) => number === value);
  return (found?.[0] ?? "unknown").toLowerCase();
}

function isServiceError(error: unknown): error is Error & { code: number; details: string } {
  return error instanceof Error && "code" in error && "details" in error;
}
