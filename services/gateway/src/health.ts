import type { Database } from "@workflow/db";
import type { Backends } from "./route-context.ts";
import { isAnswering } from "./store/is-answering.ts";

/** Whether the gateway can serve requests. */
export interface Readiness {
  /** The missing parts; empty when everything is there. Never rejects. */
  missing(): Promise<readonly string[]>;
  /** From now on readiness reports that the gateway is stopping. */
  setStopping(): void;
}

const CHECK_TIMEOUT_MS = 2_000;
/** Anyone may ask, so requests share an answer for this long. */
const ANSWER_FOR_MS = 500;

/** Readiness of the gateway: its database and the services behind it (D55). */
export function createReadiness(database: Database, backends: Backends): Readiness {
  let isStopping = false;
  let answer: Promise<readonly string[]> | undefined;
  let askedAt = 0;
  return {
    async missing() {
      if (isStopping) return ["gateway is stopping"];
      const now = performance.now();
      if (answer === undefined || now - askedAt > ANSWER_FOR_MS) {
        askedAt = now;
        answer = findMissing(database, backends);
      }
      return answer;
    },
    setStopping() {
      isStopping = true;
    },
  };
}

async function findMissing(database: Database, backends: Backends): Promise<readonly string[]> {
  const checks: readonly [string, Promise<boolean>][] = [
    ["database", answers(database)],
    ["workflows", backends.workflows.isServing(CHECK_TIMEOUT_MS)],
    ["runs", backends.runs.isServing(CHECK_TIMEOUT_MS)],
  ];
  const missing: string[] = [];
  for (const [name, check] of checks) {
    if (!(await check)) missing.push(name);
  }
  return missing;
}

function answers(database: Database): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
    void isAnswering(database)
      .then(resolve)
      .finally(() => clearTimeout(timer));
  });
}
