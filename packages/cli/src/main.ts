import { CommanderError } from "@commander-js/extra-typings";
import { EXIT } from "./exit-codes.ts";
import type { ExitCode } from "./exit-codes.ts";
import { toFailure } from "./failures.ts";
import type { Failure } from "./failures.ts";
import { interruption, listenForInterruption } from "./interruption.ts";
import { plain } from "./output/output.ts";
import { endWithoutReader } from "./output/reader.ts";
import { createProgram, wantsJson } from "./program.ts";

const isJson = wantsJson(process.argv);

for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // A reader such as `head -1` closes the pipe when it has enough.
    if (error.code === "EPIPE") return endWithoutReader();
    const failure = toFailure(error);
    // A failing stderr leaves nobody to be told.
    if (stream === process.stdout)
      tell({ ...failure, message: `standard output: ${error.message}` });
    process.exit(failure.exitCode);
  });
}
listenForInterruption();
process.exitCode = await run();

async function run(): Promise<ExitCode> {
  try {
    await createProgram({ isJson }).parseAsync();
    return process.exitCode === undefined ? EXIT.ok : EXIT.refused;
  } catch (error) {
    if (error instanceof CommanderError) return endOfParsing(error);
    const failure = toFailure(error);
    const isCut = failure.exitCode === EXIT.unreachable || failure.exitCode === EXIT.defect;
    if (interruption.aborted && isCut) {
      tell({
        ...failure,
        exitCode: EXIT.interrupted,
        code: "INTERRUPTED",
        message: "Interrupted.",
      });
      return EXIT.interrupted;
    }
    tell(failure);
    return failure.exitCode;
  }
}

/** Ends after help, or after a mistake on the command line that Commander has already explained. */
function endOfParsing({ exitCode, message }: CommanderError): ExitCode {
  if (exitCode === 0) return EXIT.ok;
  if (isJson) {
    const text = message === "(outputHelp)" ? "A command is missing." : message;
    tell({
      exitCode: EXIT.usage,
      code: "CLI_ERROR",
      message: text.replace(/^error: /, ""),
      hints: ["workflowctl --help shows more."],
      requestId: null,
      details: null,
    });
  }
  return EXIT.usage;
}

function tell({ exitCode, hints, ...error }: Failure): void {
  if (isJson) {
    const told = { error: { ...error, hints }, exitCode };
    process.stderr.write(`${JSON.stringify(told, null, 2)}\n`);
    return;
  }
  if (exitCode === EXIT.interrupted && error.code === "INTERRUPTED") {
    process.stderr.write(`${error.message}\n`);
    return;
  }
  const code = error.code === "CLI_ERROR" ? "" : ` (${error.code})`;
  const lines = [
    `error: ${plain(error.message)}${plain(code)}`,
    ...hints.map((hint) => `  ${plain(hint)}`),
  ];
  if (error.requestId !== null) lines.push(`  request id: ${plain(error.requestId)}`);
  process.stderr.write(`${lines.join("\n")}\n`);
}
