import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { WholeSystem } from "../../support/whole-system.ts";

/** A kind of request that callers make again and again. */
export interface Kind {
  name: string;
  method: "GET" | "POST";
  /** Below the origin. */
  path: string;
  body?: object;
  /** The statuses that keep the promise of the API. */
  expected: readonly number[];
  /** Whether the answer names a run that was accepted. */
  startsRun?: boolean;
}

/** What the callers of a load have seen. */
export interface Seen {
  /** Answers as they were promised, by kind. */
  answered: ReadonlyMap<string, number>;
  /** All others, in words. */
  failed: readonly string[];
  /** The runs that were accepted. */
  runIds: readonly string[];
}

/** Callers that are under way. */
export interface SteadyLoad {
  seen: Seen;
  /** Lets each end the request that it is about. */
  stop(): Promise<void>;
}

/** Between two requests of one caller: the load is there to be disturbed, not to fill the machine. */
const PAUSE_MS = 25;

const started = z.object({ data: z.object({ run_id: z.string() }) });

/** One caller for each kind, who asks for one thing after the other and never twice for the same. */
export function startLoad(system: WholeSystem, kinds: readonly Kind[]): SteadyLoad {
  const stopping = new AbortController();
  const answered = new Map<string, number>();
  const failed: string[] = [];
  const runIds: string[] = [];

  async function ask(kind: Kind): Promise<void> {
    const response = await fetch(`${system.origin}${kind.path}`, {
      method: kind.method,
      headers: { "x-api-key": system.acme.key, "content-type": "application/json" },
      ...(kind.body === undefined ? {} : { body: JSON.stringify(kind.body) }),
    });
    const text = await response.text();
    if (!kind.expected.includes(response.status)) {
      throw new Error(`${response.status} ${text.slice(0, 300)}`);
    }
    if (kind.startsRun === true) runIds.push(started.parse(JSON.parse(text)).data.run_id);
    answered.set(kind.name, (answered.get(kind.name) ?? 0) + 1);
  }

  async function call(kind: Kind): Promise<void> {
    while (!stopping.signal.aborted) {
      await ask(kind).catch((error: unknown) => {
        failed.push(`${new Date().toISOString()} ${kind.name}: ${String(error)}`);
      });
      await pause(PAUSE_MS);
    }
  }

  const calling = Promise.all(kinds.map(call));
  return {
    seen: { answered, failed, runIds },
    async stop() {
      stopping.abort();
      await calling;
    },
  };
}
