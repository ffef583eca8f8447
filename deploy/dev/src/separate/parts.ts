import { setTimeout as delay } from "node:timers/promises";
import type { Scope } from "@workflow/async";
import { StartError } from "../start-error.ts";
import type { PartName } from "../topology.ts";
import { startPartProcess } from "./part-process.ts";
import type { PartProcess, PartState } from "./part-process.ts";
import type { ProcessPlan } from "./plan.ts";

export interface PartsOptions {
  plans: readonly ProcessPlan[];
  /** Gets every log line of a process, with the process's name. */
  onLine: (process: string, line: string) => void;
  /** Tells people that a process has ended by itself. */
  tell: (text: string) => void;
  signal: AbortSignal;
}

/** The running processes of a system. */
export interface Parts {
  processes: readonly PartProcess[];
  of(part: PartName): readonly PartProcess[];
  /** The process with a name such as `gateway-1`. */
  named(name: string): PartProcess;
  /**
   * Waits until each process has everything that it needs.
   * @throws StartError that names what is missing after `timeoutMs`, or a process that ended before it was ready
   */
  untilReady(timeoutMs: number): Promise<void>;
}

const POLL_INTERVAL_MS = 250;

/** Callers stop before the services that they call, so that requests under way can finish. */
const STOP_ORDER: readonly (readonly PartName[])[] = [
  ["gateway"],
  ["webhooks", "workflows"],
  ["runs-worker"],
  ["runs-api"],
  ["integrations", "tables"],
];

/** Starts all processes at once, because each waits for what it needs. The scope stops them. */
export function startParts({ plans, onLine, tell, signal }: PartsOptions, scope: Scope): Parts {
  const processes = plans.map((plan) =>
    startPartProcess({ plan, onLine: (line) => onLine(plan.name, line), onEnd: tell }),
  );
  // An aborted start must leave no process behind.
  const killAll = (): void => {
    for (const each of processes) each.kill("SIGKILL");
  };
  process.once("exit", killAll);
  const of = (part: PartName) => processes.filter(({ plan }) => plan.part.name === part);
  scope.defer(async () => {
    for (const group of STOP_ORDER) {
      await Promise.all(group.flatMap(of).map((each) => each.stop()));
    }
    process.off("exit", killAll);
  });

  async function look(timeoutMs: number, done: AbortSignal): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    let waiting = processes;
    while (!done.aborted) {
      const states = await Promise.all(
        waiting.map(async (each) => ({ each, state: await each.state() })),
      );
      const lacking = states.filter(({ state }) => !isComplete(state));
      if (lacking.length === 0) return;
      if (performance.now() > deadline) throw new StartError(describe(lacking));
      waiting = lacking.map(({ each }) => each);
      signal.throwIfAborted();
      await delay(POLL_INTERVAL_MS);
    }
  }

  return {
    processes,
    of,
    named(name) {
      const found = processes.find(({ plan }) => plan.name === name);
      if (found === undefined) throw new Error(`There is no process ${name}.`);
      return found;
    },
    async untilReady(timeoutMs) {
      const done = new AbortController();
      const refused = processes.map((each) => each.refused);
      try {
        await Promise.race([look(timeoutMs, done.signal), ...refused]);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof StartError) throw error;
        const message = error instanceof Error ? error.message : String(error);
        throw new StartError(message, { cause: error });
      } finally {
        done.abort();
      }
    },
  };
}

function isComplete({ missing, impaired }: PartState): boolean {
  return missing.length === 0 && impaired.length === 0;
}

function describe(lacking: readonly { each: PartProcess; state: PartState }[]): string {
  const lines = lacking.map(
    ({ each, state }) => `  ${each.plan.name}: ${[...state.missing, ...state.impaired].join("; ")}`,
  );
  return `Not all parts are ready:\n${lines.join("\n")}`;
}
