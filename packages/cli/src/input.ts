import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { addAbortSignal, Writable } from "node:stream";
import { z } from "zod";
import { EXIT } from "./exit-codes.ts";
import { CliError, usageError } from "./failures.ts";
import { interruption } from "./interruption.ts";

const objectSchema = z.record(z.string(), z.unknown());

/** Everything that comes by standard input. */
export async function readAllOfStdin(): Promise<string> {
  if (process.stdin.isTTY) throw usageError("Standard input is a terminal; pipe the value in.");
  const pieces: Buffer[] = [];
  // Who has nothing to pipe in after all presses Ctrl-C.
  for await (const piece of addAbortSignal(interruption, process.stdin)) {
    pieces.push(Buffer.from(piece));
  }
  return toText("Standard input", Buffer.concat(pieces));
}

/** Whether there is somebody to ask. */
function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * Asks for a line; of hidden ones nothing is shown. Questions go to stderr, for stdout belongs to the answer.
 *
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

/** Asks for a yes. `yes` stands in for the answer; without it and without a terminal it refuses. */
export async function confirm(question: string, yes: boolean | undefined): Promise<boolean> {
  if (yes === true) return true;
  if (!canAsk()) throw usageError(`${question} There is no terminal to ask; say --yes.`);
  return /^y(es)?$/i.test((await ask(`${question} [y/N]`)).trim());
}

/** A secret value: asked for without showing it, or what standard input brings, without the last line's end. */
export async function readSecret(question: string): Promise<string> {
  if (canAsk()) return ask(question, { hidden: true });
  return (await readAllOfStdin()).replace(/\r?\n$/, "");
}

/**
 * A JSON value given on the command line: itself, `@file`, or `-` for standard input.
 *
 * @throws CliError that names the option
 */
export async function readJsonArgument(option: string, value: string): Promise<unknown> {
  if (value === "-") return parseJson(option, await readAllOfStdin());
  if (value.startsWith("@")) return readJsonFile(value.slice(1));
  return parseJson(option, value);
}

/** As `readJsonArgument`, of an object. */
export async function readObjectArgument(
  option: string,
  value: string,
): Promise<Record<string, unknown>> {
  return asObject(option, await readJsonArgument(option, value));
}

/**
 * The JSON of a file; `-` is standard input.
 *
 * @throws CliError that names the file and the place
 */
async function readJsonFile(path: string): Promise<unknown> {
  return parseJson(path, path === "-" ? await readAllOfStdin() : await readTextFile(path));
}

/** As `readJsonFile`, of an object. */
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
 * The text of bytes, without the mark that some editors put before it.
 *
 * @throws CliError when they are no UTF-8: each letter that is not understood would be lost without a word
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

/** Parsers show a piece of the text where it breaks; that may be a secret, so only the place is told. */
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
