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
/** After this time a process counts as healthy, and its end says nothing about the next one. */
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
const POLL_MS = 5_000;

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
  return new Supervised(options);
}

class Supervised implements PartProcess {
  readonly plan: ProcessPlan;
  readonly refused: Promise<never>;
  readonly #options: PartProcessOptions;
  readonly #stopping = new AbortController();
  readonly #refuse: (reason: Error) => void;
  readonly #running: Promise<void>;
  #child: ChildProcess | undefined;
  #lastWords = "";
  #wasReady = false;

  constructor(options: PartProcessOptions) {
    this.plan = options.plan;
    this.#options = options;
    const { promise, reject } = Promise.withResolvers<never>();
    // The promise may have no listener any more.
    promise.catch(() => {});
    this.refused = promise;
    this.#refuse = reject;
    this.#running = this.#run();
  }

  pid(): number | undefined {
    return this.#child?.pid;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async state(): Promise<PartState> {
    const state = await askState(this.plan);
    this.#wasReady ||= state.missing.length === 0;
    return state;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.kill("SIGTERM");
    // The process may be stopped by SIGSTOP.
    this.kill("SIGCONT");
    const done = new AbortController();
    const waitMs = this.plan.part.stopSecondsMax * 1_000 + ROUND_MS;
    const late = delay(waitMs, undefined, { signal: done.signal }).then(
      () => this.kill("SIGKILL"),
      () => {},
    );
    await this.#running;
    done.abort();
    await late;
  }

  async #run(): Promise<void> {
    const { plan } = this;
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      const startedAt = performance.now();
      const how = await this.#runOnce();
      if (signal.aborted) return;
      if (performance.now() - startedAt > HEALTHY_MS) failures = 0;
      const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)] ?? 0;
      failures += 1;
      const reason = this.#lastWords === "" ? how : `${how}: ${this.#lastWords}`;
      if (!this.#wasReady) this.#refuse(new Error(`${plan.name} did not start (${reason})`));
      const when = pauseMs === 0 ? "now" : `in ${pauseMs / 1_000} s`;
      this.#options.onEnd(`${plan.name} has ended (${reason}). It is started again ${when}.`);
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Runs a process to its end; returns how the process ended. */
  async #runOnce(): Promise<string> {
    const child = this.#launch();
    this.#child = child;
    const ended = new AbortController();
    const watching = this.#endWhenSilent(child, ended.signal);
    await once(child, "close").catch((error: unknown) => {
      this.#lastWords = String(error);
    });
    ended.abort();
    const wasSilent = await watching;
    this.#child = undefined;
    return wasSilent ? "it did not answer and was killed" : describeEnd(child);
  }

  #launch(): ChildProcess {
    const { plan, onLine } = this.#options;
    const node = [process.execPath, ...NODE_FLAGS, "--import", END_WITH_PARENT];
    const [program, ...args] = [...plan.place.launcher, ...node, join(plan.root, plan.part.main)];
    const launched = spawn(program, args, {
      cwd: plan.root,
      env: plan.environment,
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#lastWords = "";
    for (const stream of [launched.stdout, launched.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        onLine(line);
        this.#lastWords = fatalWords(line) ?? this.#lastWords;
      });
    }
    return launched;
  }

  /** Kills a process that no longer answers, or never has. Returns whether the process was killed. */
  async #endWhenSilent(watched: ChildProcess, ended: AbortSignal): Promise<boolean> {
    const { lookMs = POLL_MS } = this.#options;
    let looksLeft = START_LOOKS_MAX;
    while (looksLeft > 0) {
      await delay(lookMs, undefined, { signal: ended }).catch(() => {});
      if (ended.aborted || this.#stopping.signal.aborted) return false;
      looksLeft = (await answersLivez(this.plan, lookMs)) ? SILENT_LOOKS_MAX : looksLeft - 1;
    }
    return watched.kill("SIGKILL");
  }
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
