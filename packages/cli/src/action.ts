import { Command } from "@commander-js/extra-typings";
import { z } from "zod";
import { createContext } from "./context.ts";
import type { Context } from "./context.ts";

/** The options that every command takes beside its own. */
const globalOptions = z.object({
  json: z.boolean().optional(),
  profile: z.string().optional(),
  url: z.string().optional(),
  apiKeyStdin: z.boolean().optional(),
  color: z.boolean().optional(),
});

/**
 * Makes the action of a command. `work` gets a context, then arguments and options as Commander has them.
 */
export function act<Rest extends readonly unknown[]>(
  work: (context: Context, ...rest: Rest) => Promise<void>,
): (...rest: Rest) => Promise<void> {
  return (...rest) => {
    // Commander hands over the command itself at the end.
    const command = rest.at(-1);
    if (!(command instanceof Command)) throw new Error("The last argument must be the command.");
    return work(createContext(globalOptions.parse(command.optsWithGlobals())), ...rest);
  };
}

/** Examples at the end of a command's help. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
}
