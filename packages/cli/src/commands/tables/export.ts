import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "@commander-js/extra-typings";
import { Option } from "@commander-js/extra-typings";
import { act, examples } from "../../action.ts";
import { EXIT } from "../../exit-codes.ts";
import { CliError } from "../../failures.ts";
import { size } from "../../output/output.ts";
import { startProgress } from "../../output/progress.ts";
import type { Progress } from "../../output/progress.ts";
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
        const lines = { label: "Exporting", total: null, format: size };
        const progress = startProgress(lines);
        try {
          if (output === undefined) return void (await copy(stream, process.stdout, progress));
          const bytes = await toFile(stream, output, progress);
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

async function toFile(
  stream: ReadableStream<Uint8Array>,
  path: string,
  progress: Progress,
): Promise<number> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const bytes = await copy(stream, createWriteStream(temporary, { flags: "wx" }), progress);
    await rename(temporary, path);
    return bytes;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Resolves to the number of bytes once all of them are written. Standard output stays open. */
async function copy(
  stream: ReadableStream<Uint8Array>,
  target: Writable,
  progress: Progress,
): Promise<number> {
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of stream) {
      bytes += piece.byteLength;
      progress.update(bytes);
      yield piece;
    }
  }
  await pipeline(counted, target, { end: target !== process.stdout });
  return bytes;
}

function cutShort(error: unknown, output: string | undefined, isInterrupted: boolean): unknown {
  if (error instanceof Error && "syscall" in error) {
    return new CliError(`${output ?? "standard output"}: ${error.message}`, EXIT.usage);
  }
  const left = output === undefined ? "what was written is not whole" : `${output} was not written`;
  const exitCode = isInterrupted ? EXIT.interrupted : EXIT.unreachable;
  return new CliError(`The export was cut short: ${left}.`, exitCode, { cause: error });
}
