import { parseArgs } from "node:util";
import type { ParseArgsConfig } from "node:util";
import { isNativeError } from "node:util/types";
import type { Command } from "./command.ts";
import { FlagValues } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { UsageError } from "./usage-error.ts";

/** The request of the words after `npm run admin --`. */
export interface CommandLine {
  command: Command;
  values: FlagValues;
  /** The flag whose value comes from stdin; null when all values were given. */
  stdinFlag: string | null;
  warnings: readonly string[];
}

const STDIN = "-";

/**
 * Reads a command line: `<command> --flag value …`. `--json` may stand anywhere. Null when only help is asked for.
 * @throws UsageError that names the fault
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
  for (const [flag, { default: fallback, isSecret }] of Object.entries(command.flags)) {
    const value = given.get(flag) ?? fallback;
    const isMissing = value === undefined || value === "";
    // The message suggests the spelling that keeps the secret out of the process list.
    if (isMissing) missing.push(isSecret === true ? `--${flag}-stdin` : `--${flag}`);
    else values.set(flag, value);
  }
  if (missing.length > 0) throw new UsageError(`${name} needs ${missing.join(", ")}`);
  const secrets = Object.keys(command.flags).filter((flag) => command.flags[flag]?.isSecret);
  return {
    command,
    values: new FlagValues(values),
    stdinFlag: secrets.find((flag) => values.get(flag) === STDIN) ?? null,
    warnings: secrets.filter((flag) => values.get(flag) !== STDIN).map(visibleText),
  };
}

function visibleText(flag: string): string {
  return `--${flag} can be seen in the list of processes and in the shell's history; use --${flag}-stdin.`;
}

/** The help text of the admin command. */
export function usageText(): string {
  const lines = [...COMMANDS].map(([name, { flags, summary }]) => {
    const options = Object.entries(flags).map(
      ([flag, { placeholder, default: fallback, isSecret }]) => {
        if (isSecret === true) return `--${flag}-stdin`;
        return fallback === undefined ? `--${flag} ${placeholder}` : `[--${flag} ${placeholder}]`;
      },
    );
    return `  ${[name, ...options].join(" ")}\n      ${summary}`;
  });
  return `Usage: npm run admin -- <command> [--json]\n\n${lines.join("\n")}

A password is read from stdin, one line: --password-stdin. --password PASSWORD works too, but others
can see it in the list of processes.
--json prints one JSON object instead of text; add --silent after "npm run" to get nothing else.
The system meant is that of DATABASE_URL, or the one in the folder DATA_DIR (default .data).
`;
}

function parseFlags(command: Command, words: readonly string[]): Map<string, string> {
  const options: NonNullable<ParseArgsConfig["options"]> = {};
  for (const [flag, { isSecret }] of Object.entries(command.flags)) {
    options[flag] = { type: "string" };
    if (isSecret === true) options[`${flag}-stdin`] = { type: "boolean" };
  }
  try {
    const { values } = parseArgs({ args: [...words], options, strict: true });
    return readValues(values);
  } catch (error) {
    if (!isNativeError(error)) throw error;
    if (error instanceof UsageError) throw error;
    // The second sentence, about positional arguments, does not apply here.
    throw new UsageError(error.message.split(". ")[0] ?? error.message, { cause: error });
  }
}

/** Reads the flags' values. `--password-stdin` is short for `--password -`. */
function readValues(
  given: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>,
): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "string") values.set(name, value);
  }
  for (const name of Object.keys(given).filter((each) => given[each] === true)) {
    const flag = name.replace(/-stdin$/, "");
    if (values.has(flag)) throw new UsageError(`--${flag} and --${name} exclude each other`);
    values.set(flag, STDIN);
  }
  return values;
}
