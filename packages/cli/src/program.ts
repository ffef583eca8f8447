import { Command } from "@commander-js/extra-typings";
import { addAgents } from "./commands/agents/agents.ts";
import { addAudit } from "./commands/audit/audit.ts";
import { addProfiles, addSignIn, addWhoAmI } from "./commands/auth/auth.ts";
import { addCompletion } from "./commands/completion/completion.ts";
import { addConnections } from "./commands/connections/connections.ts";
import { addDev } from "./commands/dev/dev.ts";
import { addKeys } from "./commands/keys/keys.ts";
import { addLogs } from "./commands/runs/read.ts";
import { addRuns } from "./commands/runs/runs.ts";
import { addWebhooks } from "./commands/webhooks/webhooks.ts";
import { addWorkflows } from "./commands/workflows/workflows.ts";
import { addSecrets } from "./commands/secrets/secrets.ts";
import { addTables } from "./commands/tables/tables.ts";
import { VERSION } from "./context.ts";
import { EXIT_CODE_LINES } from "./exit-codes.ts";

/** Whether the output is for programs. This is read before parsing, because parsing may fail. */
export function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(2, end === -1 ? undefined : end).includes("--json");
}

/** The whole command line. With `isJson`, mistakes are thrown instead of told in words. */
export function createProgram({ isJson }: { isJson: boolean }): Command {
  const program = new Command("workflowctl");
  program
    .description("The workflow service on the command line.")
    .version(VERSION)
    .option("--json", "write JSON, for programs")
    .option("--profile <name>", "whom to be (WORKFLOW_PROFILE)")
    .option("--url <address>", "the server (WORKFLOW_URL)")
    .option("--api-key-stdin", "read an API key from standard input (or set WORKFLOW_API_KEY)")
    .option("--no-color", "no colours on a terminal (NO_COLOR)")
    .showHelpAfterError("(workflowctl --help shows more)")
    .exitOverride()
    .configureOutput(isJson ? { writeErr: () => {} } : {})
    .addHelpText(
      "after",
      `
Exit codes:
${EXIT_CODE_LINES.map((line) => `  ${line}`).join("\n")}

Examples:
  $ workflowctl login --url https://workflows.example.com
  $ workflowctl workflows pull --dir workflows
  $ workflowctl workflows run Greeting --input '{"name":"Ada"}' --tail
  $ workflowctl runs list --status failed --after 24h`,
    );
  for (const add of [
    addSignIn,
    addProfiles,
    addWhoAmI,
    addWorkflows,
    addRuns,
    addLogs,
    addSecrets,
    addTables,
    addConnections,
    addAgents,
    addWebhooks,
    addKeys,
    addAudit,
    addDev,
    addCompletion,
  ]) {
    add(program);
  }
  return program;
}
