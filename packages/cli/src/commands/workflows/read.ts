import type { Command } from "@commander-js/extra-typings";
import { Option } from "@commander-js/extra-typings";
import { act, examples } from "../../action.ts";
import { usageError } from "../../failures.ts";
import { count } from "../../options.ts";
import { fieldLines, showList } from "../../output/list.ts";
import { jsonLines, plain, time } from "../../output/output.ts";
import { findWorkflowId, WORKFLOW_ARGUMENT } from "./find-workflow.ts";

const STATUSES = ["draft", "active", "paused", "archived"] as const;

/** Adds `workflows list`. */
export function addList(parent: Command): void {
  parent
    .command("list")
    .description("List workflows, the newest first")
    .addOption(new Option("--status <status>", "only those of this status").choices(STATUSES))
    .option("--search <text>", "only those with this in their name")
    .option("--limit <n>", "how many at most (50)", count)
    .option("--all", "every one")
    .addHelpText("after", examples("workflowctl workflows list --status active"))
    .action(
      act(async ({ out, connect }, { status, search, limit, all }) => {
        const client = await connect();
        const pageSize = Math.min(limit ?? 50, 100);
        const list = client.workflows.list({
          status,
          search,
          limit: all === true ? 100 : pageSize,
        });
        await showList(out, list, {
          options: { limit, all },
          columns: [
            { title: "id", of: ({ id }) => id },
            {
              title: "status",
              of: (workflow) => workflow.status,
              paint: (text) => out.status(text),
            },
            { title: "version", of: ({ version }) => `v${version}` },
            { title: "trigger", of: ({ trigger }) => trigger.type },
            { title: "changed", of: ({ updatedAt }) => time(updatedAt) },
            { title: "name", of: ({ name }) => name },
          ],
        });
      }),
    );
}

/** Adds `workflows get`. */
export function addGet(parent: Command): void {
  parent
    .command("get")
    .description("Show a workflow")
    .argument("<workflow>", WORKFLOW_ARGUMENT)
    .addHelpText("after", examples('workflowctl workflows get "Order intake" --json'))
    .action(
      act(async ({ out, connect }, given) => {
        const client = await connect();
        const workflow = await client.workflows.get(await findWorkflowId(client, given));
        out.show(workflow, [
          ...fieldLines({
            id: workflow.id,
            name: plain(workflow.name),
            status: out.status(workflow.status),
            version: String(workflow.version),
            description: plain(workflow.description ?? "-"),
            changed: time(workflow.updatedAt),
            trigger: plain(JSON.stringify(workflow.trigger)),
            steps: "",
          }),
          jsonLines(workflow.steps),
        ]);
      }),
    );
}

/** Adds `workflows versions`. */
export function addVersions(parent: Command): void {
  parent
    .command("versions")
    .description("List the versions of a workflow, or compare two of them")
    .argument("<workflow>", WORKFLOW_ARGUMENT)
    .option("--compare <from..to>", "what differs between two versions, such as 1..3")
    .option("--limit <n>", "how many at most (50)", count)
    .option("--all", "every one")
    .addHelpText("after", examples("workflowctl workflows versions Greeting --compare 1..2"))
    .action(
      act(async ({ out, connect }, given, { compare, limit, all }) => {
        const client = await connect();
        const id = await findWorkflowId(client, given);
        if (compare !== undefined) {
          const comparison = await client.versions.compare(id, readRange(compare));
          return out.show(comparison, [jsonLines(comparison.changes)]);
        }
        await showList(out, client.versions.list(id), {
          options: { limit, all },
          columns: [
            { title: "version", of: ({ version }) => `v${version}` },
            { title: "status", of: (version) => version.status },
            { title: "archived", of: ({ createdAt }) => time(createdAt) },
            { title: "summary", of: ({ changeSummary }) => changeSummary ?? "-" },
          ],
        });
      }),
    );
}

function readRange(text: string): { from: number; to: number } {
  const range = /^(\d{1,9})\.\.(\d{1,9})$/.exec(text);
  if (range === null) throw usageError("--compare must be two versions, such as 1..3.");
  return { from: Number(range[1]), to: Number(range[2]) };
}
