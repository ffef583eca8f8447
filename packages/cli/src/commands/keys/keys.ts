import type { Command } from "@commander-js/extra-typings";
import { Option } from "@commander-js/extra-typings";
import { act, examples } from "../../action.ts";
import { EXIT } from "../../exit-codes.ts";
import { CliError } from "../../failures.ts";
import { confirm } from "../../input.ts";
import { count, moment, objectId } from "../../options.ts";
import { showList } from "../../output/list.ts";
import { plain, time } from "../../output/output.ts";

const SCOPES = [
  "workflows:read",
  "workflows:write",
  "workflows:execute",
  "runs:read",
  "connections:read",
  "connections:write",
  "secrets:read",
  "secrets:write",
  "api_keys:read",
  "api_keys:write",
  "audit:read",
] as const;

/** Adds `keys` and its verbs. */
export function addKeys(program: Command): void {
  const keys = program.command("keys").description("API keys of the company");
  addList(keys);
  addCreate(keys);
  addRevoke(keys);
}

function addList(parent: Command): void {
  parent
    .command("list")
    .description("List API keys; the keys themselves are never shown")
    .option("--limit <n>", "how many at most (50)", count)
    .option("--all", "every one")
    .action(
      act(async ({ out, connect }, { limit, all }) => {
        const client = await connect();
        await showList(
          out,
          client.apiKeys.list({ limit: all === true ? 1_000 : Math.min(limit ?? 50, 1_000) }),
          {
            options: { limit, all },
            columns: [
              { title: "id", of: ({ id }) => id },
              { title: "begins", of: ({ keyPrefix }) => keyPrefix },
              { title: "last used", of: ({ lastUsedAt }) => time(lastUsedAt) },
              { title: "expires", of: ({ expiresAt }) => time(expiresAt) },
              { title: "made by", of: ({ createdBy }) => createdBy?.name ?? "-" },
              { title: "name", of: ({ name }) => name },
              { title: "scopes", of: ({ scopes }) => scopes.join(" ") },
            ],
          },
        );
      }),
    );
}

function addCreate(parent: Command): void {
  parent
    .command("create")
    .description("Make an API key; this is the only time that it is shown")
    .argument("<name>", "what it is for")
    .addOption(
      new Option("--scopes <scopes...>", "what it may do").choices(SCOPES).makeOptionMandatory(),
    )
    .option("--expires <moment>", "from when on it is refused: a timestamp", moment)
    .addHelpText(
      "after",
      examples(
        "workflowctl keys create CI --scopes workflows:read workflows:write --expires 2027-02-01",
      ),
    )
    .action(
      act(async ({ out, connect }, name, { scopes, expires }) => {
        const key = await (
          await connect()
        ).apiKeys.create({
          name,
          scopes: [...scopes],
          ...(expires === undefined ? {} : { expiresAt: expires }),
        });
        out.show(key, [key.key]);
        out.note(`The key ${key.id} is shown this once.`);
      }),
    );
}

function addRevoke(parent: Command): void {
  parent
    .command("revoke")
    .description("Revoke an API key; it is refused from then on")
    .argument("<key-id>", "id of a key, not the key itself", objectId)
    .option("--yes", "do not ask")
    .action(
      act(async ({ out, connect }, id, { yes }) => {
        if (id.startsWith("wfk_")) {
          throw new CliError("Give the key's id, not the key itself.", EXIT.usage, {
            hints: ["See them: workflowctl keys list"],
          });
        }
        const client = await connect();
        if (!(await confirm(`Revoke the key ${plain(id)}?`, yes))) {
          throw new CliError("Nothing was revoked.", EXIT.refused);
        }
        out.show(await client.apiKeys.revoke(id), [`${plain(id)} was revoked.`]);
      }),
    );
}
