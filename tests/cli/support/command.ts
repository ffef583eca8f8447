import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { waitFor } from "@workflow/testkit";
import type { z } from "zod";

const BUILD = join(import.meta.dirname, "../../../packages/cli/build.ts");

/** What a command has said in the end. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** How to start a command. */
export interface RunOptions {
  /** Comes by standard input, which is then closed. */
  input?: string;
  env?: Readonly<Record<string, string>>;
}

/** A command that goes on. */
export interface Started {
  child: ChildProcess;
  /** What it has said so far. */
  said: { stdout: string; stderr: string };
  ended: Promise<Ended>;
}

/** How much a line of a terminal holds; 120 by default. */
export interface TerminalSize {
  columns: number;
}

/** A command in a terminal. */
export interface InTerminal {
  /** Presses keys. */
  type(keys: string): void;
  /** What the terminal has got so far, escapes included. */
  screen(): string;
  /** Waits until the screen shows something. */
  shows(what: RegExp | string): Promise<void>;
  ended: Promise<number>;
}

/** The program as users install it, with a home and a working folder of its own. */
export interface Cli {
  /** Where commands run. */
  dir: string;
  configFile: string;
  /** The program's file. */
  program: string;
  run(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** As `run`, of a command that has to succeed; returns what `--json` writes. */
  json<T>(schema: z.ZodType<T>, args: readonly string[], options?: RunOptions): Promise<T>;
  start(args: readonly string[], options?: RunOptions): Started;
  terminal(
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
    size?: TerminalSize,
  ): InTerminal;
  /** A line of shell, in which `workflowctl` is the program. */
  shell(line: string): Promise<Ended>;
  close(): Promise<void>;
}

/** Builds the program. `env` is what all of its commands get. */
export async function buildCli(env: Readonly<Record<string, string>> = {}): Promise<Cli> {
  const root = await mkdtemp(join(tmpdir(), "workflowctl-"));
  const dist = join(root, "dist");
  await promisify(execFile)(process.execPath, [BUILD, dist]);
  return cliAt(root, { program: join(dist, "workflowctl.js"), env });
}

/** A program that is there already. */
export async function cliAt(
  root: string,
  { program, env }: { program: string; env: Readonly<Record<string, string>> },
): Promise<Cli> {
  const dir = await mkdtemp(join(root, "work-"));
  const all = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
    PATH: process.env["PATH"] ?? "",
    HOME: root,
    XDG_CONFIG_HOME: join(root, "config"),
    TERM: "xterm-256color",
    ...env,
    ...more,
  });
  const start = (file: string, args: readonly string[], options: RunOptions = {}): Started => {
    const child = spawn(file, args, { cwd: dir, env: all(options.env) });
    const said = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said.stderr += text));
    // Some end without reading what they are given.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve({ code, ...said }));
    });
    return { child, said, ended };
  };
  const run = (args: readonly string[], options?: RunOptions): Promise<Ended> =>
    start(process.execPath, [program, ...args], options).ended;
  return {
    dir,
    program,
    configFile: join(root, "config/workflowctl/config.json"),
    run,
    json: async (schema, args, options) => {
      const { code, stdout, stderr } = await run([...args, "--json"], options);
      if (code !== 0) throw new Error(`workflowctl ${args.join(" ")}: ${code}: ${stderr}`);
      return schema.parse(JSON.parse(stdout));
    },
    start: (args, options) => start(process.execPath, [program, ...args], options),
    terminal: (args, more, size) =>
      inTerminal([program, ...args], { cwd: dir, env: all(more), ...size }),
    shell: (line) => {
      const define = `workflowctl() { ${quoted(process.execPath)} ${quoted(program)} "$@"; }`;
      return start("bash", ["-c", `${define}\n${line}`]).ended;
    },
    close: () => rm(root, { recursive: true, force: true }),
  };
}

/** `script`, which every Debian has, gives the command a terminal of its own. */
function inTerminal(
  args: readonly string[],
  { cwd, env, columns = 120 }: { cwd: string; env: Record<string, string> } & Partial<TerminalSize>,
): InTerminal {
  const program = [process.execPath, ...args].map(quoted).join(" ");
  const line = `stty cols ${columns} rows 40; exec ${program}`;
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd,
    env: { ...env, SHELL: "/bin/sh" },
  });
  let screen = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (screen += text));
  child.stdin.on("error", () => {});
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? -1));
  });
  return {
    type: (keys) => child.stdin.write(keys),
    screen: () => screen,
    shows: async (what) => {
      await waitFor(() => (typeof what === "string" ? screen.includes(what) : what.test(screen)), {
        what: `${String(what)} on the screen`,
      });
    },
    ended,
  };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
