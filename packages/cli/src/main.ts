import { CommanderError } from "@commander-js/extra-typings";
import { EXIT } from "./exit-codes.ts";
import { toFailure } from "./failures.ts";
import type { Failure } from "./failures.ts";
import { interruption, listenForInterruption } from "./interruption.ts";
import { plain } from "./output/output.ts";
import { createProgram } from "./program.ts";

// Who reads no further has what it wanted: `workflowctl runs list | head -1`.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(EXIT.ok);
    throw error;
  });
}
listenForInterruption();
process.exitCode = await run();

async function run(): Promise<number> {
  const program = createProgram();
  try {
    await program.parseAsync();
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    // Help and mistakes on the command line: Commander has said what there is to say.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const failure = toFailure(error);
    if (interruption.aborted && (failure === null || failure.exitCode === EXIT.unreachable)) {
      process.stderr.write("Interrupted.\n");
      return EXIT.interrupted;
    }
    if (failure === null) throw error;
    tell(failure, program.getOptionValue("json") === true);
    return failure.exitCode;
  }
}

function tell({ exitCode, hints, ...error }: Failure, isJson: boolean): void {
  if (isJson) {
    const told = { error: { ...error, hints }, exitCode };
    process.stderr.write(`${JSON.stringify(told, null, 2)}\n`);
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
