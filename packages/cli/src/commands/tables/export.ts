import { pipeline } from "node:stream/promises";
import type { Command } from "@commander-js/extra-typings";
import { Option } from "@commander-js/extra-typings";
import { act, examples } from "../../action.ts";
import { EXIT } from "../../exit-codes.ts";
import { CliError } from "../../failures.ts";
import { replaceFile } from "../../files/write-whole-file.ts";
import { size } from "../../output/output.ts";
import { startProgress } from "../../output/progress.ts";
import { findTable, TABLE_ARGUMENT } from "./find-table.ts";

/** Adds `tables export`. */
export function addExport(parent: Command): void {
  parent
    .command("export")
    .description("Write all rows of a table, as they are at one moment")
    .argument("<table>", TABLE_ARGUMENT)
    .option("-o, --output <file>", "where to; standard output without it")
    .addOption(
      new Option("--format <format>", "csv has values only, jsonl everything")
        .choices(["csv", "jsonl"] as const)
        .default("csv" as const),
    )
    .addHelpText(
      "after",
      `\nA file is there once all of it is. Values are written as they are: open files of strangers as text.\n${examples(
        "workflowctl tables export Orders -o orders.csv",
        "workflowctl tables export Orders --format jsonl | gzip > orders.jsonl.gz",
      )}`,
    )
    .action(
      act(async ({ out, connect, signal }, given, { output, format }) => {
        const client = await connect();
        const table = await findTable(client, given);
        const stream = await client.rows.export(table.id, { format }, { signal });
        const progress = startProgress({ label: "Exporting", total: null, format: size });
        let bytes = 0;
        async function* counted(): AsyncGenerator<Uint8Array> {
          for await (const piece of stream) {
            bytes += piece.byteLength;
            progress.update(bytes);
            yield piece;
          }
        }
        try {
          if (output === undefined) return await pipeline(counted, process.stdout, { end: false });
          await replaceFile(output, (file) => file.writeFile(counted()));
          progress.end();
          out.show({ tableId: table.id, file: output, bytes }, [`${output} has ${size(bytes)}.`]);
        } catch (error) {
          throw cutShort(error, output, signal.aborted);
        } finally {
          progress.end();
        }
      }),
    );
}

function cutShort(error: unknown, output: string | undefined, isInterrupted: boolean): unknown {
  if (error instanceof Error && "syscall" in error) {
    return new CliError(`${output ?? "standard output"}: ${error.message}`, EXIT.notWritten);
  }
  const left = output === undefined ? "what was written is not whole" : `${output} was not written`;
  const exitCode = isInterrupted ? EXIT.interrupted : EXIT.unreachable;
  return new CliError(`The export was cut short: ${left}.`, exitCode, { cause: error });
}
