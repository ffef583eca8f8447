import type { Command } from "@commander-js/extra-typings";
import { act, examples } from "../../action.ts";
import { count, moment } from "../../options.ts";
import { showList } from "../../output/list.ts";
import { time } from "../../output/output.ts";

/** Adds `audit`. */
export function addAudit(program: Command): void {
  program
    .command("audit")
    .description("List who changed what, the newest first")
    .option("--action <action>", "only changes of this kind, such as workflow.updated")
    .option("--resource <id>", "only changes of this thing")
    .option("--type <type>", "only changes of such things, such as workflow")
    .option("--actor <id>", "only what this person or API key did")
    .option("--after <moment>", "only since: a timestamp, or 15m, 2h, 7d ago", moment)
    .option("--before <moment>", "only earlier", moment)
    .option("--limit <n>", "how many at most (50)", count)
    .option("--all", "every one")
    .addHelpText("after", examples("workflowctl audit --type workflow --after 7d"))
    .action(
      act(async ({ out, connect }, options) => {
        const { action, resource, type, actor, after, before, limit, all } = options;
        const client = await connect();
        const list = client.auditLog.list({
          action,
          resourceId: resource,
          resourceType: type,
          actorId: actor,
          from: after,
          to: before,
          limit: all === true ? 100 : Math.min(limit ?? 50, 100),
        });
        await showList(out, list, {
          options: { limit, all },
          columns: [
            { title: "when", of: ({ createdAt }) => time(createdAt) },
            { title: "who", of: (event) => event.actor.name ?? event.actor.id },
            { title: "what", of: (event) => event.action },
            { title: "which", of: ({ resourceId }) => resourceId },
            { title: "changed", of: ({ changes }) => Object.keys(changes).join(", ") },
            { title: "request", of: ({ requestId }) => requestId ?? "-" },
          ],
        });
      }),
    );
}
