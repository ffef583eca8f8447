import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { NODE_FLAGS } from "../node-flags.ts";
import { livezUrlOf, readyzUrlOf } from "./plan.ts";
import type { ProcessPlan } from "./plan.ts";

const END_WITH_PARENT = join(import.meta.dirname, "end-with-parent.ts");
/** After so long, a process counts as healthy, and its end says nothing about the next one. */
const HEALTHY_MS = 30_000;
const PAUSES_MS = [0, 1_000, 2_000, 5_000, 15_000] as const;
const FATAL_LEVEL = "fatal";
const ROUND_MS = 100;
/**
 * /livez needs nothing outside of its process. A process that misses so many looks will not recover.
 */
const SILENT_LOOKS_MAX = 6;
/** The number of looks in the time that a start may take. */
const START_LOOKS_MAX = 24;
const LOOK_MS = 5_000;

const logLine = z.looseObject({
  level: z.string(),
  msg: z.string().default(""),
  err: z.looseObject({ message: z.string() }).optional(),
});

/** The answer of a process's /readyz. */
const readiness = z.object({
  missing: z.array(z.string()),
  impaired: z.array(z.string()),
});

/** The reasons why a process cannot do all of its work; both lists are empty when it can. */
export type PartState = z.output<typeof readiness>;

export interface PartProcessOptions {
  plan: ProcessPlan;
  /** Gets every log line of the process. */
  onLine: (line: string) => void;
  /** Tells people that the process has ended by itself, why, and when it is restarted. */
  onEnd: (text: string) => void;
  /**
   * The time-out of a look at /livez and the pause between looks, in milliseconds. Default 5,000.
   */
  lookMs?: number;
}

/** A process that is restarted when it ends by itself, or answers nothing for some 30 s. */
export interface PartProcess {
  plan: ProcessPlan;
  /** The present process's number; undefined while there is none. */
  pid(): number | undefined;
  /** What the process lacks now. Never rejects. */
  state(): Promise<PartState>;
  /** Rejects with the reason when the first process ends before it was ready. Never resolves. */
  refused: Promise<never>;
  /** Sends a signal without waiting for its effect. */
  kill(signal: NodeJS.Signals): void;
  /** Stops the process for good. It is killed after the part's time limit. */
  stop(): Promise<void>;
}

/** Starts a part as a process in a group of its own, so that Ctrl-C reaches only its starter. */
export function startPartProcess(options: PartProcessOptions): PartProcess {
  const { plan, onEnd } = options;
  const stopping = new AbortController();
  const refused = Promise.withResolvers<never>();
  // The promise may have no listener any more.
  refused.promise.catch(() => {});
  let child: ChildProcess | undefined;
  let lastWords = "";
  let wasReady = false;

  function launch(): ChildProcess {
    const node = [process.execPath, ...NODE_FLAGS, "--import", END_WITH_PARENT];
    const [program, ...args] = [...plan.place.launcher, ...node, join(plan.root, plan.part.main)];
    const launched = spawn(program, args, {
      cwd: plan.root,
      env: plan.environment,
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    lastWords = "";
    for (const stream of [launched.stdout, launched.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        options.onLine(line);
        lastWords = fatalWords(line) ?? lastWords;
      });
    }
    return launched;
  }

  async function run(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      child = launch();
      const ended = new AbortController();
      const watching = endWhenSilent(child, ended.signal);
      await once(child, "close").catch((error: unknown) => {
        lastWords = String(error);
      });
      ended.abort();
      const wasSilent = await watching;
      const how = wasSilent ? "it did not answer and was killed" : describeEnd(child);
      child = undefined;
      if (stopping.signal.aborted) return;
      if (performance.now() - startedAt > HEALTHY_MS) failures = 0;
      const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] ?? 0;
      failures += 1;
      const reason = lastWords === "" ? how : `${how}: ${lastWords}`;
      if (!wasReady) refused.reject(new Error(`${plan.name} did not start (${reason})`));
      const when = pauseMs === 0 ? "now" : `in ${pauseMs / 1_000} s`;
      onEnd(`${plan.name} has ended (${reason}). It is started again ${when}.`);
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  /** Kills a process that no longer answers, or never has. Its end tells whether it was killed. */
  async function endWhenSilent(watched: ChildProcess, ended: AbortSignal): Promise<boolean> {
    const lookMs = options.lookMs ?? LOOK_MS;
    let looksLeft = START_LOOKS_MAX;
    while (looksLeft > 0) {
      await delay(lookMs, undefined, { signal: ended }).catch(() => {});
      if (ended.aborted || stopping.signal.aborted) return false;
      looksLeft = (await answersLivez(plan, lookMs)) ? SILENT_LOOKS_MAX : looksLeft - 1;
    }
    return watched.kill("SIGKILL");
  }

  const running = run();
  const kill = (signal: NodeJS.Signals): void => void child?.kill(signal);
  const end = (): void => kill("SIGKILL");
  return {
    plan,
    pid: () => child?.pid,
    refused: refused.promise,
    kill,
    async state() {
      const state = await askState(plan);
      wasReady ||= state.missing.length === 0;
      return state;
    },
    async stop() {
      stopping.abort();
      kill("SIGTERM");
      // The process may be stopped by SIGSTOP.
      kill("SIGCONT");
      const done = new AbortController();
      const patienceMs = plan.part.stopSecondsMax * 1_000 + ROUND_MS;
      const late = delay(patienceMs, undefined, { signal: done.signal }).then(end, () => {});
      await running;
      done.abort();
      await late;
    },
  };
}

async function askState(plan: ProcessPlan): Promise<PartState> {
  try {
    const response = await fetch(readyzUrlOf(plan), {
      signal: AbortSignal.timeout(10_000),
    });
    return readiness.parse(await response.json());
  } catch {
    return { missing: [`${plan.name} does not answer`], impaired: [] };
  }
}

async function answersLivez(plan: ProcessPlan, timeoutMs: number): Promise<boolean> {
  try {
    const response = await fetch(livezUrlOf(plan), { signal: AbortSignal.timeout(timeoutMs) });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

function describeEnd({ exitCode, signalCode }: ChildProcess): string {
  return signalCode === null ? `exit code ${exitCode}` : signalCode;
}

/** The last words of a process before it ends by a fault of its own or of its settings. */
function fatalWords(line: string): string | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const { level, msg, err } = logLine.parse(JSON.parse(line));
    if (level !== FATAL_LEVEL) return undefined;
    return err === undefined ? msg : `${msg}: ${err.message}`;
  } catch {
    // The line is incomplete, or no line of the log.
    return undefined;
  }
}
