import type { Command } from "@commander-js/extra-typings";
import { createContext } from "./context.ts";
import type { Context, GlobalOptions } from "./context.ts";

/** What Commander hands to an action at the end: the command itself. */
type AnyCommand = Pick<Command, "optsWithGlobals">;

/** Makes the action of a command: `work` gets a context, then arguments and options as Commander has them. */
export function act<Rest extends readonly unknown[]>(
  work: (context: Context, ...rest: Rest) => Promise<void>,
): (...rest: Rest) => Promise<void> {
  return (...rest) => {
    const command = rest.at(-1) as AnyCommand;
    return work(createContext(command.optsWithGlobals() as GlobalOptions), ...rest);
  };
}

/** Examples at the end of a command's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
}
