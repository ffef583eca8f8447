import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ExpressionRequest, ExpressionResponse } from "./protocol.ts";

/** A process that evaluates expressions. */
export interface Evaluator {
  send(requests: readonly ExpressionRequest[]): void;
  /** Ends it, whatever it does; resolves when it is gone. None of the events follows. */
  kill(): Promise<void>;
}

/** What becomes of an evaluator; at most one of the last two, once. */
export interface EvaluatorEvents {
  /** In the order of the requests; `ready` comes first. */
  onResponse(response: ExpressionResponse | "ready"): void;
  onOutOfMemory(): void;
  /** It could not be started, or ended for another reason. */
  onFailure(error: Error): void;
}

const PROGRAM = fileURLToPath(new URL("./expression-process.ts", import.meta.url));

/**
 * Second lines of defence, should an expression ever get out of JSONata: no code from strings, no
 * other program, no file to write; and the environment of the process is empty.
 */
const CONFINEMENT = [
  "--permission",
  "--allow-fs-read=*",
  "--allow-worker",
  "--disallow-code-generation-from-strings",
  "--disable-warning=SecurityWarning",
];

/**
 * Starts an evaluator whose heap is limited.
 *
 * @param memoryMiB V8's heap; beyond it V8 aborts the process, and with it nothing else
 */
export function startEvaluator(memoryMiB: number, events: EvaluatorEvents): Evaluator {
  const child = fork(PROGRAM, [], {
    execArgv: [...CONFINEMENT, `--max-old-space-size=${memoryMiB}`, "--max-semi-space-size=8"],
    env: {},
    serialization: "advanced",
    // A group of its own: an interrupt at the terminal is for us to handle, not for it.
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const gone = Promise.withResolvers<void>();
  let over = false;
  const end = (report: () => void): void => {
    gone.resolve();
    if (over) return;
    over = true;
    report();
  };
  child.on("message", (response: ExpressionResponse | "ready") => {
    if (!over) events.onResponse(response);
  });
  child.on("error", (cause) =>
    end(() => events.onFailure(new Error("an evaluator could not be started", { cause }))),
  );
  child.on("exit", (code, signal) =>
    end(() => {
      // V8 aborts; the system, when it is short of memory itself, kills.
      if (signal === "SIGABRT" || signal === "SIGKILL") events.onOutOfMemory();
      else events.onFailure(new Error(`an evaluator ended with ${signal ?? code}`));
    }),
  );
  // An idle pool keeps no process alive.
  child.unref();
  child.channel?.unref();
  return {
    send(requests) {
      // Without a channel the exit is about to be reported.
      if (child.connected) child.send([...requests], () => {});
    },
    kill() {
      over = true;
      // Whoever waits for its end can.
      child.ref();
      child.kill("SIGKILL");
      return gone.promise;
    },
  };
}
