import type { Command } from "@commander-js/extra-typings";
import type { NewAgent } from "@workflow/client";
import { act, examples } from "../../action.ts";
import { EXIT } from "../../exit-codes.ts";
import { CliError } from "../../failures.ts";
import { confirm, readObjectArgument, readObjectFile } from "../../input.ts";
import { count, objectId } from "../../options.ts";
import { fieldLines, showList } from "../../output/list.ts";
import { duration, jsonLines, plain, time } from "../../output/output.ts";

/** Adds `agents` and its verbs. */
export function addAgents(program: Command): void {
  const agents = program.command("agents").description("AI agents");
  for (const add of [addList, addGet, addCreate, addUpdate, addAsk, addExecutions, addDelete]) {
    add(agents);
  }
}

function addList(parent: Command): void {
  parent
    .command("list")
    .description("List agents, those that every company has included")
    .option("--own", "only the company's own")
    .option("--search <text>", "only those with this in their name")
    .option("--limit <n>", "how many at most (50)", count)
    .option("--all", "every one")
    .action(
      act(async ({ out, connect }, { own, search, limit, all }) => {
        const client = await connect();
        const list = client.agents.list({
          includeBuiltIn: own !== true,
          search,
          limit: all === true ? 100 : Math.min(limit ?? 50, 100),
        });
        await showList(out, list, {
          options: { limit, all },
          columns: [
            { title: "id", of: ({ id }) => id },
            { title: "type", of: ({ type }) => type },
            { title: "model", of: ({ model }) => model },
            { title: "version", of: ({ version }) => `v${version}` },
            { title: "name", of: ({ name }) => name },
          ],
        });
      }),
    );
}

function addGet(parent: Command): void {
  parent
    .command("get")
    .description("Show an agent with its prompt")
    .argument("<agent>", "id of an agent", objectId)
    .action(
      act(async ({ out, connect }, id) => {
        const agent = await (await connect()).agents.get(id);
        out.show(agent, [
          ...fieldLines({
            id: agent.id,
            name: plain(agent.name),
            type: agent.type,
            status: out.status(agent.status),
            model: `${agent.provider} ${agent.model}`,
            version: String(agent.version),
            changed: time(agent.updatedAt),
          }),
          "prompt:",
          ...agent.systemPrompt.split("\n").map((line) => `  ${plain(line)}`),
          `output schema: ${jsonLines(agent.outputSchema)}`,
        ]);
      }),
    );
}

function addCreate(parent: Command): void {
  parent
    .command("create")
    .description("Make an agent from a JSON file")
    .argument("<file>", "name, type, systemPrompt and so on; - is standard input")
    .addHelpText("after", examples("workflowctl agents create triage.json"))
    .action(
      act(async ({ out, connect }, file) => {
        // The server checks the body.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        const body = (await readObjectFile(file)) as NewAgent;
        const agent = await (await connect()).agents.create(body);
        out.show(agent, [`Agent ${agent.id} was made.`]);
      }),
    );
}

function addUpdate(parent: Command): void {
  parent
    .command("update")
    .description("Change an agent; what the file leaves out stays")
    .argument("<agent>", "id of an agent", objectId)
    .argument("<file>", "what is new, as JSON; - is standard input")
    .action(
      act(async ({ out, connect }, id, file) => {
        const agent = await (await connect()).agents.update(id, await readObjectFile(file));
        out.show(agent, [`Agent ${agent.id} is at version ${agent.version}.`]);
      }),
    );
}

function addAsk(parent: Command): void {
  parent
    .command("ask")
    .description("Ask an agent, and show its answer")
    .argument("<agent>", "id of an agent", objectId)
    .requiredOption("--input <json>", "what it works with: JSON, @file, or - for standard input")
    .option("--message <text>", "what it is told besides")
    .option("--test", "as a test, which is not kept; not of agents that every company has")
    .addHelpText(
      "after",
      examples(
        `workflowctl agents ask agent_decision --input '{"data":{"total":900},"options":["a","b"]}'`,
      ),
    )
    .action(
      act(async ({ out, connect, signal }, id, { input, message, test }) => {
        const body = {
          input: await readObjectArgument("--input", input),
          ...(message === undefined ? {} : { userMessage: message }),
        };
        const client = await connect();
        const answer =
          test === true
            ? await client.agents.test(id, body, { signal })
            : await client.agents.execute(id, body, { signal });
        const { error, usage, durationMs } = answer;
        out.show(answer, error === null ? [jsonLines(answer.output)] : []);
        out.note(`${duration(durationMs)}, ${usage.inputTokens} + ${usage.outputTokens} tokens`);
        if (error !== null) throw new CliError(`${error.code}: ${error.message}`, EXIT.refused);
      }),
    );
}

function addExecutions(parent: Command): void {
  parent
    .command("executions")
    .description("List what an agent was asked, the newest first")
    .argument("<agent>", "id of an agent", objectId)
    .option("--limit <n>", "how many at most (50)", count)
    .option("--all", "every one")
    .action(
      act(async ({ out, connect }, id, { limit, all }) => {
        const client = await connect();
        const pageSize = all === true ? 100 : Math.min(limit ?? 50, 100);
        await showList(out, client.agents.listExecutions(id, { limit: pageSize }), {
          options: { limit, all },
          columns: [
            { title: "id", of: (execution) => execution.id },
            { title: "status", of: (one) => one.status, paint: (text) => out.status(text) },
            { title: "asked", of: ({ createdAt }) => time(createdAt) },
            { title: "took", of: ({ durationMs }) => duration(durationMs) },
            { title: "tokens", of: ({ usage }) => `${usage.inputTokens} + ${usage.outputTokens}` },
            { title: "error", of: ({ error }) => error?.code ?? "" },
          ],
        });
      }),
    );
}

function addDelete(parent: Command): void {
  parent
    .command("delete")
    .description("Delete an agent of the company")
    .argument("<agent>", "id of an agent", objectId)
    .option("--yes", "do not ask")
    .action(
      act(async ({ out, connect }, id, { yes }) => {
        const client = await connect();
        if (!(await confirm(`Delete the agent ${plain(id)}?`, yes))) {
          throw new CliError("Nothing was deleted.", EXIT.refused);
        }
        out.show(await client.agents.delete(id), [`${plain(id)} was deleted.`]);
      }),
    );
}
