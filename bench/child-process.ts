import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Scope } from "@workflow/service";
import type { z } from "zod";

const STOP_MS = 15_000;

/** A process of one of the files of this folder, which talks by messages. */
export interface Helper {
  /** Sends a message and waits for the answer. Rejects when the process ends instead. */
  ask<Schema extends z.ZodType>(message: unknown, answer: Schema): Promise<z.output<Schema>>;
}

/** Starts a file of this folder as a process that ends with the scope. */
export function startHelper(scope: Scope, file: string): Helper {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  scope.defer(() => endProcess(child, "SIGKILL"));
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
        child.send(Object(message));
      }),
  };
}

/** Ends a process and waits for it; one that does not obey in time is killed. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once("exit", () => resolve());
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await promise;
  clearTimeout(timer);
}
