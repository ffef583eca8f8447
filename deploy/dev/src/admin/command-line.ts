import { parseArgs } from "node:util";
import { isNativeError } from "node:util/types";
import type { Command } from "./command.ts";
import { FlagValues } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { UsageError } from "./usage-error.ts";

/** What the words after `npm run admin --` ask for. */
export interface CommandLine {
  command: Command;
  values: FlagValues;
}

/**
 * Reads a command line: `<command> --flag value …`. `--json` may stand anywhere and is not among the
 * values. Null when only help is asked for.
 *
 * @throws UsageError saying what is wrong
 */
export function readCommandLine(words: readonly string[]): CommandLine | null {
  const [name, ...rest] = words.filter((word) => word !== "--json");
  if (name === "--help" || name === "-h" || name === "help") return null;
  if (name === undefined) throw new UsageError("a command is missing");
  const command = COMMANDS.get(name);
  if (command === undefined) {
    throw new UsageError(`${JSON.stringify(name)} is not a command`);
  }
  if (rest.includes("--help")) return null;
  const given = parseFlags(command, rest);
  const values = new Map<string, string>();
  const missing: string[] = [];
  for (const [flag, { default: fallback }] of Object.entries(command.flags)) {
    const value = given.get(flag) ?? fallback;
    if (value === undefined || value === "") missing.push(`--${flag}`);
    else values.set(flag, value);
  }
  if (missing.length > 0) throw new UsageError(`${name} needs ${missing.join(", ")}`);
  return { command, values: new FlagValues(values) };
}

/** How to call the admin command, for people. */
export function usageText(): string {
  const lines = [...COMMANDS].map(([name, { flags, summary }]) => {
    const options = Object.entries(flags).map(([flag, { placeholder, default: fallback }]) =>
      fallback === undefined ? `--${flag} ${placeholder}` : `[--${flag} ${placeholder}]`,
    );
    return `  ${[name, ...options].join(" ")}\n      ${summary}`;
  });
  return `Usage: npm run admin -- <command> [--json]\n\n${lines.join("\n")}

--json prints one JSON object instead of text; add --silent after "npm run" to get nothing else.
The system meant is that of DATABASE_URL, or the one in the folder DATA_DIR (default .data).
`;
}

function parseFlags(command: Command, words: readonly string[]): Map<string, string> {
  const options = Object.fromEntries(
    Object.keys(command.flags).map((flag) => [flag, { type: "string" as const }]),
  );
  try {
    const { values } = parseArgs({ args: [...words], options, strict: true });
    return new Map(
      Object.entries(values).flatMap(([flag, value]) =>
        typeof value === "string" ? [[flag, value] as const] : [],
      ),
    );
  } catch (error) {
    if (!isNativeError(error)) throw error;
    // The part about positional arguments after the first sentence is of no use here.
    throw new UsageError(error.message.split(". ")[0] ?? error.message, { cause: error });
  }
}
