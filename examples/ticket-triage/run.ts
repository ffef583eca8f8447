import { isApiError } from "@workflow/client";
import type { Agent, AgentCases, NewAgent, NewWorkflow, WorkflowClient } from "@workflow/client";
import { putWorkflow } from "../put-workflow.ts";
import { readJson } from "../read-json.ts";
import { ExampleError, runExample } from "../run-example.ts";

const TICKET = "Since ten minutes every call of your API answers 500. Nobody can pay!";
/** Models take their time. */
const WITHIN_MS = 120_000;

await runExample(
  "workflows:read,workflows:write,workflows:execute,runs:read",
  async ({ client }) => {
    const agent = await prepareAgent(client);
    console.log(`Agent ${agent.name}, version ${agent.version}, asks ${agent.model}\n`);
    const isGood = await judge(client, agent);
    await triage(client, agent);
    if (!isGood) throw new ExampleError("Some cases failed: change the prompt in agent.json.");
  },
);

/** The example's agent, as in agent.json; made on the first run. */
async function prepareAgent({ agents }: WorkflowClient): Promise<Agent> {
  const wanted = await readJson<NewAgent>(new URL("agent.json", import.meta.url));
  for await (const { id, name } of agents.list({ search: wanted.name, includeBuiltIn: false })) {
    if (name === wanted.name) return agents.update(id, wanted);
  }
  return agents.create(wanted);
}

/** Asks for all cases and prints which answers are as expected. */
async function judge({ agents }: WorkflowClient, { id }: Agent): Promise<boolean> {
  const cases = await readJson<AgentCases>(new URL("cases.json", import.meta.url));
  const { passed, total, results, usage } = await evaluate(() =>
    agents.evaluate(id, cases, { timeoutMs: WITHIN_MS }),
  );
  for (const { name, passed: isPassed, reason } of results) {
    console.log(`${isPassed ? "passed" : "FAILED"}  ${name}${isPassed ? "" : `: ${reason}`}`);
  }
  console.log(`${passed} of ${total} cases passed, ${usage.totalTokens} tokens\n`);
  return passed === total;
}

async function evaluate<Evaluation>(ask: () => Promise<Evaluation>): Promise<Evaluation> {
  try {
    return await ask();
  } catch (error) {
    if (!isApiError(error, "NOT_CONFIGURED")) throw error;
    throw new ExampleError(
      `${error.message}\nStart the service with OPENAI_API_KEY=… npm start, and run the example again.`,
      { cause: error },
    );
  }
}

/** Runs the workflow for one ticket and prints what was decided. */
async function triage(client: WorkflowClient, { id: sorterId }: Agent): Promise<void> {
  const definition = await readJson<NewWorkflow>(new URL("workflow.json", import.meta.url));
  const workflow = await putWorkflow(client, definition);
  const input = { sorterId, ticket: TICKET };
  const run = await client.workflows.runAndWait(workflow.id, { input }, { waitMs: WITHIN_MS });
  console.log(`Run ${run.id}: ${run.status}\n${JSON.stringify(run.output, null, 2)}`);
}
