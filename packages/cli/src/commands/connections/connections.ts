import type { Command } from "@commander-js/extra-typings";
import { Option } from "@commander-js/extra-typings";
import { act, examples } from "../../action.ts";
import { EXIT } from "../../exit-codes.ts";
import { CliError, usageError } from "../../failures.ts";
import { confirm, readSecret } from "../../input.ts";
import { count, objectId } from "../../options.ts";
import { fieldLines, showList } from "../../output/list.ts";
import { jsonLines, plain, time } from "../../output/output.ts";

const STATUSES = ["pending", "active", "error", "expired", "disconnected", "abandoned"] as const;

/** Adds `connections` and its verbs. */
export function addConnections(program: Command): void {
  const connections = program.command("connections").description("Accounts at providers");
  for (const add of [addList, addGet, addConnect, addAddKey, addVerify, addRefresh, addDelete]) {
    add(connections);
  }
}

function addList(parent: Command): void {
  parent
    .command("list")
    .description("List connections")
    .option("--provider <id>", "only of this provider")
    .addOption(new Option("--status <status>", "only of this status").choices(STATUSES))
    .option("--limit <n>", "how many at most (50)", count)
    .option("--all", "every one")
    .addHelpText("after", examples("workflowctl connections list --status error"))
    .action(
      act(async ({ out, connect }, { provider, status, limit, all }) => {
        const client = await connect();
        const list = client.connections.list({
          provider,
          status,
          limit: all === true ? 100 : Math.min(limit ?? 50, 100),
        });
        await showList(out, list, {
          options: { limit, all },
          columns: [
            { title: "id", of: ({ id }) => id },
            { title: "provider", of: (connection) => connection.provider },
            { title: "status", of: (one) => one.status, paint: (text) => out.status(text) },
            { title: "account", of: ({ externalAccountId }) => externalAccountId ?? "-" },
            { title: "name", of: ({ name }) => name },
            { title: "error", of: ({ errorMessage }) => errorMessage ?? "" },
          ],
        });
      }),
    );
}

function addGet(parent: Command): void {
  parent
    .command("get")
    .description("Show a connection")
    .argument("<connection>", "id of a connection", objectId)
    .action(
      act(async ({ out, connect }, id) => {
        const connection = await (await connect()).connections.get(id);
        out.show(connection, [
          ...fieldLines({
            id: connection.id,
            name: plain(connection.name),
            provider: connection.provider,
            status: out.status(connection.status),
            account: plain(connection.externalAccountId ?? "-"),
            error: plain(connection.errorMessage ?? "-"),
            synced: time(connection.lastSyncedAt),
          }),
          `metadata: ${jsonLines(connection.metadata)}`,
        ]);
      }),
    );
}

function addConnect(parent: Command): void {
  parent
    .command("connect")
    .description("Begin to connect an account by OAuth; prints the address to open in a browser")
    .argument("<provider>", "id of the provider, such as stripe", objectId)
    .option("--name <name>", "name of the connection")
    .option("--redirect <url>", "where the browser goes in the end")
    .addHelpText("after", examples("workflowctl connections connect stripe"))
    .action(
      act(async ({ out, connect }, provider, { name, redirect }) => {
        const client = await connect();
        const authorization = await client.connections.getAuthUrl(provider, {
          ...(name === undefined ? {} : { connectionName: name }),
          ...(redirect === undefined ? {} : { redirectUrl: redirect }),
        });
        out.show(authorization, [
          "Open this address in a browser:",
          plain(authorization.authUrl),
          `Then look: workflowctl connections get ${authorization.connectionId}`,
        ]);
      }),
    );
}

function addAddKey(parent: Command): void {
  parent
    .command("add-key")
    .description("Connect an account by an API key of the provider")
    .argument("<provider>", "id of the provider, such as resend", objectId)
    .option("--name <name>", "name of the connection")
    .option("--replace <connection>", "replace the key of this connection")
    .option(
      "--field <name=value>",
      "what the provider needs besides, such as domain=acme; may be repeated",
      readField,
      {} as Record<string, string>,
    )
    .addHelpText(
      "after",
      `\nThe key is asked for without showing it, or comes by standard input.\n${examples(
        "workflowctl connections add-key resend < key",
      )}`,
    )
    .action(
      act(async ({ out, connect }, provider, { name, replace, field }) => {
        const client = await connect();
        const apiKey = (await readSecret(`API key of ${plain(provider)}:`)).trim();
        if (apiKey === "") throw usageError("The key is empty.");
        const connection = await client.connections.connectApiKey(provider, {
          ...field,
          apiKey,
          ...(name === undefined ? {} : { name }),
          ...(replace === undefined ? {} : { connectionId: replace }),
        });
        out.show(connection, [`Connection ${connection.id} is ${out.status(connection.status)}.`]);
      }),
    );
}

function readField(text: string, before: Record<string, string>): Record<string, string> {
  const [name = "", ...rest] = text.split("=");
  if (name === "" || rest.length === 0) throw usageError("--field must be name=value.");
  return { ...before, [name]: rest.join("=") };
}

function addVerify(parent: Command): void {
  parent
    .command("verify")
    .description("Ask the provider whether a connection works; the exit code is 1 when it does not")
    .argument("<connection>", "id of a connection", objectId)
    .action(
      act(async ({ out, connect }, id) => {
        const health = await (await connect()).connections.verify(id);
        const found = health.healthy
          ? out.paint("green", "works")
          : out.paint("red", "does not work");
        out.show(health, [
          `${health.connectionId} (${health.provider}) ${found}.`,
          ...(health.error === null ? [] : [plain(health.error)]),
        ]);
        if (!health.healthy) process.exitCode = EXIT.refused;
      }),
    );
}

function addRefresh(parent: Command): void {
  parent
    .command("refresh")
    .description("Get new credentials for a connection")
    .argument("<connection>", "id of a connection", objectId)
    .action(
      act(async ({ out, connect }, id) => {
        const refreshed = await (await connect()).connections.refresh(id);
        out.show(refreshed, [plain(refreshed.message)]);
      }),
    );
}

function addDelete(parent: Command): void {
  parent
    .command("delete")
    .description("Disconnect an account; workflows that use it fail from then on")
    .argument("<connection>", "id of a connection", objectId)
    .option("--yes", "do not ask")
    .action(
      act(async ({ out, connect }, id, { yes }) => {
        const client = await connect();
        if (!(await confirm(`Delete the connection ${plain(id)}?`, yes))) {
          throw new CliError("Nothing was deleted.", EXIT.refused);
        }
        out.show(await client.connections.delete(id), [`${plain(id)} was deleted.`]);
      }),
    );
}
