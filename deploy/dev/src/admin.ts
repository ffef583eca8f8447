import { isAppError } from "@workflow/errors";
import { ConfigError } from "@workflow/service";
import { readCommandLine, usageText } from "./admin/command-line.ts";
import { readStdinLine } from "./admin/read-stdin.ts";
import { readAdminSettings } from "./admin/settings.ts";
import { UsageError } from "./admin/usage-error.ts";
import { explain } from "./start-error.ts";

const FAILED = 1;
/** The command line or a setting is wrong, so calling again in the same way is useless. */
const WRONG_USE = 2;

interface Failure {
  exitCode: number;
  code: string;
  message: string;
}

process.exitCode = await run(process.argv.slice(2));

/** Runs one command and returns the exit code. */
async function run(words: readonly string[]): Promise<number> {
  const asJson = words.includes("--json");
  try {
    const commandLine = readCommandLine(words);
    if (commandLine === null) {
      process.stdout.write(usageText());
      return 0;
    }
    const { command, stdinFlag } = commandLine;
    const warn = (warning: string): void => {
      process.stderr.write(asJson ? `${JSON.stringify({ warning })}\n` : `Warning: ${warning}\n`);
    };
    commandLine.warnings.forEach(warn);
    const settings = readAdminSettings(process.env);
    const values =
      stdinFlag === null
        ? commandLine.values
        : commandLine.values.with(stdinFlag, await readStdinLine(stdinFlag));
    const { json, text, warnings = [], failed = false } = await command.run(settings, values);
    process.stdout.write(`${asJson ? JSON.stringify(json) : text}\n`);
    warnings.forEach(warn);
    return failed ? FAILED : 0;
  } catch (error) {
    const { exitCode, code, message } = toFailure(error);
    const hint = error instanceof UsageError ? "\nAll commands: npm run admin -- help\n" : "\n";
    process.stderr.write(
      asJson ? `${JSON.stringify({ error: { code, message } })}\n` : `${message}${hint}`,
    );
    return exitCode;
  }
}

function toFailure(error: unknown): Failure {
  if (error instanceof UsageError || error instanceof ConfigError) {
    return { exitCode: WRONG_USE, code: "BAD_REQUEST", message: error.message };
  }
  if (isAppError(error)) {
    const isOurs = error.reason === "INTERNAL_ERROR" || error.reason === "UNAVAILABLE";
    return {
      exitCode: error.reason === "BAD_REQUEST" ? WRONG_USE : FAILED,
      code: error.reason,
      // The public texts of these errors say nothing. The person at this terminal may know more.
      message: isOurs ? explain(error) : error.message,
    };
  }
  return { exitCode: FAILED, code: "FAILED", message: explain(error) };
}
