import { Command } from "@commander-js/extra-typings";
import { addProfiles, addSignIn, addWhoAmI } from "./commands/auth/auth.ts";
import { addLogs } from "./commands/runs/read.ts";
import { addRuns } from "./commands/runs/runs.ts";
import { addWorkflows } from "./commands/workflows/workflows.ts";
import { VERSION } from "./context.ts";
import { EXIT_CODE_LINES } from "./exit-codes.ts";

/** The whole command line. */
export function createProgram() {
  const program = new Command("workflowctl")
    .description("The workflow service on the command line.")
    .version(VERSION)
    .option("--json", "write JSON, for programs")
    .option("--profile <name>", "whom to be (WORKFLOW_PROFILE)")
    .option("--url <address>", "the server (WORKFLOW_URL)")
    .option("--api-key-stdin", "read an API key from standard input (or set WORKFLOW_API_KEY)")
    .option("--no-color", "no colours on a terminal (NO_COLOR)")
    .showHelpAfterError("(workflowctl --help shows more)")
    .exitOverride()
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
  const root = program as unknown as Command;
  for (const add of [addSignIn, addProfiles, addWhoAmI, addWorkflows, addRuns, addLogs]) add(root);
  return program;
}
