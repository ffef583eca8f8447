import type { Command } from "@commander-js/extra-typings";
import { act, examples } from "../../action.ts";
import { EXIT } from "../../exit-codes.ts";
import { count, objectId } from "../../options.ts";
import { showList } from "../../output/list.ts";
import { plain } from "../../output/output.ts";
import { addListen } from "./listen.ts";

/** Adds `webhooks` and its verbs. */
export function addWebhooks(program: Command): void {
  const webhooks = program
    .command("webhooks")
    .description("Webhooks: forward to a local program, test");
  addEndpoints(webhooks);
  addTest(webhooks);
  addListen(webhooks);
}

function addEndpoints(parent: Command): void {
  parent
    .command("endpoints")
    .description("List the endpoints that runs' events are delivered to")
    .option("--limit <n>", "how many at most (50)", count)
    .option("--all", "every one")
    .action(
      act(async ({ out, connect }, { limit, all }) => {
        const client = await connect();
        await showList(out, client.webhookEndpoints.list(), {
          options: { limit, all },
          columns: [
            { title: "id", of: ({ id }) => id },
            { title: "status", of: (one) => one.status, paint: (text) => out.status(text) },
            { title: "events", of: ({ events }) => events?.join(" ") ?? "all" },
            { title: "name", of: ({ name }) => name },
            { title: "url", of: ({ url }) => url },
          ],
        });
      }),
    );
}

function addTest(parent: Command): void {
  parent
    .command("test")
    .description("Send an endpoint a synthetic event; the exit code is 1 when it is not taken")
    .argument("<endpoint>", "id of an endpoint", objectId)
    .option("--event <type>", "type of the event, such as workflow.failed")
    .addHelpText(
      "after",
      examples("workflowctl webhooks test whe_01kdvwgw00… --event workflow.failed"),
    )
    .action(
      act(async ({ out, connect }, id, { event }) => {
        const client = await connect();
        const result = await client.webhookEndpoints.test(
          id,
          event === undefined ? {} : { eventType: event },
        );
        const answer =
          result.statusCode === null
            ? (result.error ?? "no answer")
            : `status ${result.statusCode}`;
        out.show(result, [
          `${result.success ? out.paint("green", "taken") : out.paint("red", "not taken")}: ${plain(answer)}, ${result.durationMs} ms`,
          ...(result.responseBody === null ? [] : [plain(result.responseBody)]),
        ]);
        if (!result.success) process.exitCode = EXIT.refused;
      }),
    );
}
