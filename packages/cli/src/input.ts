import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { addAbortSignal, Writable } from "node:stream";
import { z } from "zod";
import { EXIT } from "./exit-codes.ts";
import { CliError, usageError } from "./failures.ts";
import { interruption } from "./interruption.ts";

const objectSchema = z.record(z.string(), z.unknown());

/** Reads standard input to its end. */
export async function readAllOfStdin(): Promise<string> {
  if (process.stdin.isTTY) throw usageError("Standard input is a terminal; pipe the value in.");
  const pieces: Buffer[] = [];
  // Ctrl-C ends the wait of a person who has nothing to pipe in.
  for await (const piece of addAbortSignal(interruption, process.stdin)) {
    pieces.push(Buffer.from(piece));
  }
  return toText("Standard input", Buffer.concat(pieces));
}

/** Whether a person can be asked. */
function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * Asks for a line. A hidden line is not shown. Questions go to stderr, because stdout belongs to the result.
 * @throws CliError when there is no terminal, or the person ends the input
 */
export async function ask(question: string, options: { hidden?: boolean } = {}): Promise<string> {
  if (!canAsk()) throw usageError(`There is no terminal to ask for: ${question}`);
  let muted = false;
  let isCut = false;
  const output = new Writable({
    write(piece: Buffer, _encoding, done) {
      if (!muted) process.stderr.write(piece);
      done();
    },
  });
  const lines = createInterface({ input: process.stdin, output, terminal: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      const stop = (): void => {
        isCut = true;
        reject(new CliError("Interrupted.", EXIT.interrupted));
      };
      lines.once("SIGINT", stop);
      lines.once("close", stop);
      lines.question(`${question} `, resolve);
      muted = options.hidden === true;
    });
  } finally {
    lines.close();
    if (muted || isCut) process.stderr.write("\n");
  }
}

/**
 * Asks for a yes. The option `yes` answers in advance; without it and without a terminal, the command refuses.
 */
export async function confirm(question: string, yes: boolean | undefined): Promise<boolean> {
  if (yes === true) return true;
  if (!canAsk()) throw usageError(`${question} There is no terminal to ask; say --yes.`);
  return /^y(es)?$/i.test((await ask(`${question} [y/N]`)).trim());
}

/** Reads a secret: from a hidden question, or from standard input without its last line break. */
export async function readSecret(question: string): Promise<string> {
  if (canAsk()) return ask(question, { hidden: true });
  return (await readAllOfStdin()).replace(/\r?\n$/, "");
}

/**
 * A JSON value of the command line: given literally, as `@file`, or as `-` for standard input.
 * @throws CliError that names the option
 */
export async function readJsonArgument(option: string, value: string): Promise<unknown> {
  if (value === "-") return parseJson(option, await readAllOfStdin());
  if (value.startsWith("@")) return readJsonFile(value.slice(1));
  return parseJson(option, value);
}

/** A JSON object of the command line, given as for `readJsonArgument`. */
export async function readObjectArgument(
  option: string,
  value: string,
): Promise<Record<string, unknown>> {
  return asObject(option, await readJsonArgument(option, value));
}

/**
 * The JSON of a file; `-` is standard input.
 * @throws CliError that names the file and the place
 */
async function readJsonFile(path: string): Promise<unknown> {
  return parseJson(path, path === "-" ? await readAllOfStdin() : await readTextFile(path));
}

/** The JSON object of a file; `-` is standard input. */
export async function readObjectFile(path: string): Promise<Record<string, unknown>> {
  return asObject(path, await readJsonFile(path));
}

/** The text of a file. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return toText(path, await readFile(path));
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw usageError(`${path} cannot be read: ${error instanceof Error ? error.message : ""}`);
  }
}

/**
 * Decodes UTF-8 and drops a byte order mark.
 * @throws CliError for other bytes: each unknown letter would be lost silently
 */
function toText(source: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw usageError(`${source} is no UTF-8 text.`, "Save it as UTF-8 and try again.");
  }
}

function asObject(source: string, value: unknown): Record<string, unknown> {
  const object = objectSchema.safeParse(value);
  if (object.success) return object.data;
  throw usageError(`${source} must be a JSON object.`);
}

/** Error messages of parsers quote the text, which may be a secret. So only the place is told. */
function parseJson(source: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    const offset = /position (\d+)/.exec(message)?.[1];
    const lines = text.slice(0, offset === undefined ? text.length : Number(offset)).split("\n");
    const where = `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
    const half = text.trim() === "" ? "it is empty" : `it breaks off or is wrong at ${where}`;
    throw usageError(`${source} is no JSON: ${half}.`);
  }
}
