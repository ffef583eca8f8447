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
/** A process that lived for so long was healthy: what ends it says nothing of the next one. */
const HEALTHY_MS = 30_000;
const PAUSES_MS = [0, 1_000, 2_000, 5_000, 15_000] as const;
const FATAL_LEVEL = "fatal";
const ROUND_MS = 100;
/** /livez looks at nothing outside of its process: one that is silent to so many looks will not come back. */
const SILENT_LOOKS_MAX = 6;
/** As many as the time that a start may take. */
const START_LOOKS_MAX = 24;
const LOOK_MS = 5_000;

const logLine = z.looseObject({
  level: z.string(),
  msg: z.string().default(""),
  err: z.looseObject({ message: z.string() }).optional(),
});

/** What /readyz of a process says. */
const readiness = z.object({
  missing: z.array(z.string()),
  impaired: z.array(z.string()),
});

/** Why a process cannot do all of its work; both empty when it can. */
export type PartState = z.output<typeof readiness>;

export interface PartProcessOptions {
  plan: ProcessPlan;
  /** Gets every line that the process logs. */
  onLine: (line: string) => void;
  /** Tells people that the process has ended by itself, why, and when it is started again. */
  onEnd: (text: string) => void;
  /** How long each look at /livez waits, and the time between looks, in milliseconds (default 5,000). */
  lookMs?: number;
}

/** A process that is started again whenever it ends by itself, or answers nothing for some 30 s. */
export interface PartProcess {
  plan: ProcessPlan;
  /** Of the process of this moment; undefined while there is none. */
  pid(): number | undefined;
  /** What it lacks at the moment. Never rejects. */
  state(): Promise<PartState>;
  /** Rejects when the first process ends by itself before it was ready, with its reason. Never resolves. */
  refused: Promise<never>;
  /** Sends a signal, without waiting for what comes of it. */
  kill(signal: NodeJS.Signals): void;
  /** Stops it in an orderly way, for good; cut off when it takes longer than the part says. */
  stop(): Promise<void>;
}

/** Starts a part as a process of its own, in a process group of its own: Ctrl-C reaches its starter alone. */
export function startPartProcess(options: PartProcessOptions): PartProcess {
  const { plan, onEnd } = options;
  const stopping = new AbortController();
  const refused = Promise.withResolvers<never>();
  // Nobody may be listening any more.
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

  /** Kills a process that does not answer any more, or never has. Says at its end whether it did. */
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
      // Somebody may have stopped it by SIGSTOP.
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

/** What a process says last before it ends by a fault of its own or of its settings. */
function fatalWords(line: string): string | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const { level, msg, err } = logLine.parse(JSON.parse(line));
    if (level !== FATAL_LEVEL) return undefined;
    return err === undefined ? msg : `${msg}: ${err.message}`;
  } catch {
    // A line that is cut off, or no line of the log.
    return undefined;
  }
}
