import type { Command } from "@commander-js/extra-typings";
import { Argument } from "@commander-js/extra-typings";
import { act } from "../../action.ts";
import { readConfig } from "../../config/config-file.ts";
import { candidates } from "./candidates.ts";
import { SCRIPTS } from "./scripts.ts";

/** Adds `completion`, and the hidden command that shells call. */
export function addCompletion(program: Command): void {
  program
    .command("completion")
    .description("Print the script that completes commands in a shell")
    .addArgument(
      new Argument("<shell>", "bash, zsh or fish").choices(["bash", "zsh", "fish"] as const),
    )
    .addHelpText(
      "after",
      `
  bash:  echo 'source <(workflowctl completion bash)' >> ~/.bashrc
  zsh:   workflowctl completion zsh > "\${fpath[1]}/_workflowctl"
  fish:  workflowctl completion fish > ~/.config/fish/completions/workflowctl.fish`,
    )
    .action(
      act(async ({ out }, shell) => {
        await Promise.resolve();
        out.line(SCRIPTS[shell]);
      }),
    );
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .allowUnknownOption()
    .helpOption(false)
    .action(async (words) => {
      const profiles = Object.keys((await readConfig()).profiles);
      const found = candidates(program, words, profiles);
      process.stdout.write(found.map((candidate) => `${candidate}\n`).join(""));
    });
}
