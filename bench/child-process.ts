import type { Scope } from "@workflow/async";
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { z } from "zod";

const STOP_MS = 15_000;

/** A process that talks by messages. */
export interface Helper {
  /** Sends a message and waits for the answer. Rejects when the process ends instead. */
  ask<Schema extends z.ZodType>(message: unknown, answer: Schema): Promise<z.output<Schema>>;
}

/** Starts a file of a folder, by default of this one, as a process that ends with the scope. */
export function startHelper(scope: Scope, file: string, folder = import.meta.url): Helper {
  const child = fork(fileURLToPath(new URL(file, folder)), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    // JSON has no NaN.
    serialization: "advanced",
  });
  endWithScope(scope, child, "SIGKILL");
  return {
    ask: (message, answer) =>
      new Promise((resolve, reject) => {
        const onExit = (code: number | null): void => {
          child.off("message", onMessage);
          reject(new Error(`${file} has ended (${code}).`));
        };
        const onMessage = (reply: unknown): void => {
          child.off("exit", onExit);
          const parsed = answer.safeParse(reply);
          if (parsed.success) resolve(parsed.data);
          else reject(new Error(`${file} answered something else: ${JSON.stringify(reply)}`));
        };
        child.once("exit", onExit);
        child.once("message", onMessage);
        child.send(Object(message), (error) => {
          if (error !== null) reject(error);
        });
      }),
  };
}

/**
 * Ties a process to a scope: the process ends with the scope, or at once when the scope is closed. A process whose
 * parent ends without closing the scope ends as well.
 */
export function endWithScope(scope: Scope, child: ChildProcess, signal: NodeJS.Signals): void {
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
  // A process that cannot be started or reached is noticed by the code that expects something of it.
  child.on("error", () => {});
  try {
    scope.defer(() => endProcess(child, signal));
  } catch (error) {
    kill();
    throw error;
  }
}

/** Ends a process and waits for its end; a process that does not obey in time is killed. */
async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const neverRan = child.pid === undefined;
  if (neverRan || child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once("exit", () => resolve());
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await promise;
  clearTimeout(timer);
}
