import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Confinement } from "./confinement.ts";
import type { EvaluatorAnswer, EvaluatorMessage } from "./protocol.ts";

/** A process that evaluates expressions. */
export interface Evaluator {
  send(message: EvaluatorMessage): void;
  /** The processor time used so far, in milliseconds; null where the system does not tell. */
  cpuMs(): number | null;
  /** Kills the process. Resolves when it is gone; no event follows. */
  kill(): Promise<void>;
}

/** The events of an evaluator. One of the last two comes at most once. */
export interface EvaluatorEvents {
  /** Answers come in the order of requests, after `ready`. */
  onAnswer(answer: EvaluatorAnswer): void;
  /** V8 or the system has ended the process, usually for lack of memory. */
  onCrash(): void;
  /** The process could not start, or ended for another reason. */
  onFailure(error: Error): void;
}

/** Options of a new evaluator. */
export interface EvaluatorOptions {
  confinement: Confinement;
  /** The program's text, an ES module without imports. */
  source: string;
  /** V8's heap limit in MiB. Beyond it, V8 aborts only this process. */
  memoryMiB: number;
}

/**
 * An expression that escapes JSONata gets no file, no other program, no thread, no native code, and no code from
 * strings.
 */
const PERMISSIONS = [
  "--permission",
  "--disallow-code-generation-from-strings",
  "--disable-warning=SecurityWarning",
];

/** Starts a confined process with an empty environment and a limited heap. */
export function startEvaluator(
  { confinement, source, memoryMiB }: EvaluatorOptions,
  events: EvaluatorEvents,
): Evaluator {
  const heap = [`--max-old-space-size=${memoryMiB}`, "--max-semi-space-size=8"];
  const [program, args] = confinement.command([
    ...PERMISSIONS,
    ...heap,
    "--input-type=module",
    "-",
  ]);
  const child = spawn(program, args, {
    env: {},
    cwd: "/",
    serialization: "advanced",
    // A process group of its own: the service handles an interrupt at the terminal.
    detached: true,
    stdio: ["pipe", "ignore", "ignore", "ipc"],
  });
  const gone = Promise.withResolvers<void>();
  let over = false;
  const end = (report: () => void): void => {
    gone.resolve();
    if (over) return;
    over = true;
    report();
  };
  child.on("message", (answer: EvaluatorAnswer) => {
    if (!over) events.onAnswer(answer);
  });
  child.on("error", (cause) =>
    end(() => events.onFailure(new Error("an evaluator could not be started", { cause }))),
  );
  child.on("exit", (code, signal) =>
    end(() => {
      if (signal !== null) events.onCrash();
      else events.onFailure(new Error(`an evaluator ended with ${code}`));
    }),
  );
  // The exit event reports the fault.
  child.stdin?.on("error", () => {});
  child.stdin?.end(source);
  // An idle pool keeps no process alive.
  child.unref();
  child.channel?.unref();
  return {
    send(message) {
      // Without a channel, the exit event is about to come.
      if (child.connected) child.send(message, () => {});
    },
    cpuMs: () => (child.pid === undefined ? null : readCpuMs(child.pid)),
    kill() {
      over = true;
      // A caller may wait for the process's end.
      child.ref();
      child.kill("SIGKILL");
      return gone.promise;
    },
  };
}

/** Linux counts in hundredths of a second, whatever its internal clock is. */
const MS_PER_TICK = 10;

/**
 * The time in user and system mode: fields 14 and 15 of proc_pid_stat(5), behind a name in brackets.
 */
function readCpuMs(pid: number): number | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return null;
  }
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  return Number.isFinite(ticks) ? ticks * MS_PER_TICK : null;
}
