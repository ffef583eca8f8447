import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Confinement } from "./confinement.ts";
import type { EvaluatorAnswer, EvaluatorMessage } from "./protocol.ts";

/** A process that evaluates expressions. */
export interface Evaluator {
  send(message: EvaluatorMessage): void;
  /** Processor time that it has used, in milliseconds; null where the system does not tell. */
  cpuMs(): number | null;
  /** Ends it, whatever it does; resolves when it is gone. None of the events follows. */
  kill(): Promise<void>;
}

/** What becomes of an evaluator; at most one of the last two, once. */
export interface EvaluatorEvents {
  /** In the order of the requests; `ready` comes first. */
  onAnswer(answer: EvaluatorAnswer): void;
  /** V8 or the system ended it, commonly for want of memory. */
  onCrash(): void;
  /** It could not be started, or ended for another reason. */
  onFailure(error: Error): void;
}

/** How an evaluator is started. */
export interface EvaluatorOptions {
  confinement: Confinement;
  /** The text of its program, an ES module that imports nothing. */
  source: string;
  /** V8's heap in MiB; beyond it V8 aborts the process, and with it nothing else. */
  memoryMiB: number;
}

/**
 * Should an expression ever get out of JSONata: no file, no other program, no thread, no native code,
 * and no code from strings.
 */
const PERMISSIONS = [
  "--permission",
  "--disallow-code-generation-from-strings",
  "--disable-warning=SecurityWarning",
];

/** Starts a confined process whose environment is empty and whose heap is limited. */
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
    // A group of its own: an interrupt at the terminal is for us to handle, not for it.
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
  // Its exit tells what went wrong.
  child.stdin?.on("error", () => {});
  child.stdin?.end(source);
  // An idle pool keeps no process alive.
  child.unref();
  child.channel?.unref();
  return {
    send(message) {
      // Without a channel the exit is about to be reported.
      if (child.connected) child.send(message, () => {});
    },
    cpuMs: () => (child.pid === undefined ? null : readCpuMs(child.pid)),
    kill() {
      over = true;
      // Whoever waits for its end can.
      child.ref();
      child.kill("SIGKILL");
      return gone.promise;
    },
  };
}

/** Linux counts in hundredths of a second, whatever its clock does inside. */
const MS_PER_TICK = 10;

/** Time in user and system mode: fields 14 and 15 of proc_pid_stat(5), after a name in brackets. */
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
