import { z } from "zod";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { MODEL_ANSWER } from "../../../bench/model-answer.ts";
import { startReceiver as startBareReceiver } from "../../../bench/start-receiver.ts";
import { startSystem } from "../../../bench/system.ts";
import type { System } from "../../../bench/system.ts";
import { quantile, startCanary } from "./canary.ts";
import type { Canary, Sightings } from "./canary.ts";
import { createClient } from "./client.ts";
import type { Form, Greed, GreedCase } from "./greed-case.ts";
import { watchMemory } from "./memory.ts";
import type { MemoryWatch, Peaks } from "./memory.ts";
import { startReceiver } from "./receiver.ts";
import type { Receiver } from "./receiver.ts";

/** What came of a case; times in milliseconds. */
export interface Finding {
  id: string;
  title: string;
  /** What the greedy company got, or why the case could not go on. */
  outcome: string;
  /** Whether the case went to its end. */
  ended: boolean;
  /** What the canary saw before the greed, and during it. */
  idle: Figures;
  greedy: Figures;
  /** What the canary did not get; the first ones. */
  failures: readonly string[];
  peaks: Peaks;
}

/** Of one look of the canary. */
export interface Figures {
  answered: number;
  readP95: number;
  readMax: number;
  runP95: number;
  runMax: number;
}

/** A system with a greedy company, a canary and whatever watches them. */
export interface Session {
  /** Goes through a case: idle first, then greedy. */
  observe(greedCase: GreedCase): Promise<Finding>;
  /** What the canary sees while nobody is greedy is measured again before the next case. */
  forgetIdle(): void;
  stop(): Promise<void>;
}

const IDLE_MS: Readonly<Record<Form, number>> = { short: 3_000, full: 5_000 };
/** How long the AI provider takes for an answer. */
const MODEL_MS = 10_000;
const FAILURES_SHOWN = 5;

const companySchema = z.object({ companyId: z.string(), apiKey: z.string() });
const tokenSchema = z.object({ token: z.string() });

/** Starts a system as `npm start` does, in a process of its own, with everything beside it. */
export async function startSession(form: Form): Promise<Session> {
  const scope = createScope();
  return scope.guard(async () => {
    const system = await startSystem(scope);
    const receiver = await startReceiver(scope);
    await startBareReceiver(scope, MODEL_MS, system.modelPort, MODEL_ANSWER);
    const greedy = await makeCompany(system, "Greedy");
    const { apiKey } = await makeCompany(system, "Canary");
    const canary = await startCanary(scope, { baseUrl: system.baseUrl, apiKey });
    const memory = await watchMemory(system);
    scope.defer(() => memory.stop());
    let idle: Promise<Figures> | undefined;
    const measureIdle = async (): Promise<Figures> => {
      await canary.look();
      await new Promise((resolve) => setTimeout(resolve, IDLE_MS[form]));
      return figuresOf(await canary.look());
    };
    const parts = {
      scope,
      system,
      receiver,
      greedy,
      canary,
      memory,
      form,
      idle: () => (idle ??= measureIdle()),
    };
    return {
      observe: (greedCase) => observe(greedCase, parts),
      forgetIdle: () => (idle = undefined),
      stop: () => scope.close(),
    };
  });
}

interface Parts {
  scope: Scope;
  system: System;
  receiver: Receiver;
  greedy: z.output<typeof companySchema>;
  canary: Canary;
  memory: MemoryWatch;
  form: Form;
  /** What the canary saw before anybody was greedy; measured once, until that is forgotten. */
  idle: () => Promise<Figures>;
}

async function observe(greedCase: GreedCase, parts: Parts): Promise<Finding> {
  const { canary, memory, form } = parts;
  const timeUp = new AbortController();
  const greed = createGreed(parts, timeUp.signal);
  try {
    await greedCase.prepare?.(greed);
    const idle = await parts.idle();
    await canary.look();
    memory.take();
    const timer = setTimeout(() => timeUp.abort(), greedCase.timeMs[form]);
    const { outcome, ended } = await attempt(() => greedCase.run(greed));
    clearTimeout(timer);
    const sightings = await canary.look();
    return {
      id: greedCase.id,
      title: greedCase.title,
      outcome,
      ended,
      idle,
      greedy: figuresOf(sightings),
      failures: sightings.failures.slice(0, FAILURES_SHOWN),
      peaks: memory.take(),
    };
  } finally {
    timeUp.abort();
    greed.client.close();
  }
}

function createGreed({ system, receiver, greedy, form }: Parts, signal: AbortSignal): Greed {
  return {
    form,
    client: createClient(system.baseUrl, greedy.apiKey),
    companyId: greedy.companyId,
    receiver,
    databaseUrl: system.databaseUrl,
    runsGrpcAddress: system.runsGrpcAddress,
    signal,
    async mintToken() {
      const whose = ["--company", greedy.companyId, "--scopes", "runs:read"];
      return tokenSchema.parse(await system.admin("mint-token", ...whose)).token;
    },
    rest: (ms) =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", end);
          resolve();
        };
        const timer = setTimeout(end, signal.aborted ? 0 : ms);
        signal.addEventListener("abort", end, { once: true });
      }),
  };
}

async function attempt(run: () => Promise<string>): Promise<{ outcome: string; ended: boolean }> {
  try {
    return { outcome: await run(), ended: true };
  } catch (error) {
    return { outcome: error instanceof Error ? error.message : String(error), ended: false };
  }
}

async function makeCompany(system: System, name: string) {
  const email = `${name.toLowerCase()}@example.com`;
  const words = ["--name", name, "--email", email, "--password", "bench-password"];
  return companySchema.parse(await system.admin("create-company", ...words));
}

function figuresOf({ reads, runs }: Sightings): Figures {
  return {
    answered: reads.length + runs.length,
    readP95: quantile(reads, 0.95),
    readMax: quantile(reads, 1),
    runP95: quantile(runs, 0.95),
    runMax: quantile(runs, 1),
  };
}
