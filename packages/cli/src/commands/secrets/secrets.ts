import type { Command } from "@commander-js/extra-typings";
import { isApiError } from "@workflow/client";
import { act, examples } from "../../action.ts";
import { EXIT } from "../../exit-codes.ts";
import { CliError, usageError } from "../../failures.ts";
import { confirm, readSecret } from "../../input.ts";
import { count, objectId, words } from "../../options.ts";
import { showList } from "../../output/list.ts";
import { plain, time } from "../../output/output.ts";
import { findWorkflowId, WORKFLOW_ARGUMENT } from "../workflows/find-workflow.ts";

/** Adds `secrets` and its verbs. */
export function addSecrets(program: Command): void {
  const secrets = program
    .command("secrets")
    .description("Secrets of workflows; values are never shown");
  addList(secrets);
  addSet(secrets);
  addDelete(secrets);
}

function addList(parent: Command): void {
  parent
    .command("list")
    .description("List the secrets of a workflow")
    .argument("<workflow>", WORKFLOW_ARGUMENT)
    .option("--limit <n>", "how many at most (50)", count)
    .option("--all", "every one")
    .action(
      act(async ({ out, connect }, given, { limit, all }) => {
        const client = await connect();
        await showList(out, client.secrets.list(await findWorkflowId(client, given)), {
          options: { limit, all },
          columns: [
            { title: "key", of: ({ key }) => key },
            { title: "value", of: ({ maskedValue }) => maskedValue },
            { title: "hosts", of: ({ allowedHosts }) => allowedHosts?.join(", ") ?? "any" },
            { title: "last used", of: ({ lastUsedAt }) => time(lastUsedAt) },
            { title: "changed", of: ({ updatedAt }) => time(updatedAt) },
          ],
        });
      }),
    );
}

function addSet(parent: Command): void {
  parent
    .command("set")
    .description("Store a secret, in place of the value that it had")
    .argument("<workflow>", WORKFLOW_ARGUMENT)
    .argument("<key>", "its name, such as API_TOKEN", objectId)
    .option("--hosts <hosts>", "the only hosts it may be sent to, with commas between", words)
    .addHelpText(
      "after",
      `\nThe value is asked for without showing it, or comes by standard input. Never put it on the command line, which
others can see.\n${examples(
        "workflowctl secrets set Greeting API_TOKEN",
        "workflowctl secrets set Greeting API_TOKEN --hosts api.example.com < token",
      )}`,
    )
    .action(
      act(async ({ out, connect }, given, key, { hosts }) => {
        const client = await connect();
        const id = await findWorkflowId(client, given);
        const value = await readSecret(`Value of ${plain(key)}:`);
        if (value === "") throw usageError("The value is empty.");
        const content = { value, ...(hosts === undefined ? {} : { allowedHosts: hosts }) };
        const [secret, what] = await client.secrets
          .create(id, { key, ...content })
          .then((created) => [created, "stored"] as const)
          .catch(async (error: unknown) => {
            if (!isApiError(error, "CONFLICT")) throw error;
            return [await client.secrets.replace(id, key, content), "replaced"] as const;
          });
        out.show(secret, [`${secret.key} was ${what}.`]);
      }),
    );
}

function addDelete(parent: Command): void {
  parent
    .command("delete")
    .description("Delete a secret; runs that need it fail from then on")
    .argument("<workflow>", WORKFLOW_ARGUMENT)
    .argument("<key>", "its name", objectId)
    .option("--yes", "do not ask")
    .action(
      act(async ({ out, connect }, given, key, { yes }) => {
        const client = await connect();
        const id = await findWorkflowId(client, given);
        if (!(await confirm(`Delete the secret ${plain(key)}?`, yes))) {
          throw new CliError("Nothing was deleted.", EXIT.refused);
        }
        out.show(await client.secrets.delete(id, key), [`${plain(key)} was deleted.`]);
      }),
    );
}
