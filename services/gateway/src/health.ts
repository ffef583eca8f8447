import type { Database } from "@workflow/db";
import { serviceItself } from "@workflow/rpc";
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
  const checks = [
    answers(database).then((isThere) => (isThere ? [] : ["database"])),
    troubleOf("workflows", backends.workflows),
    troubleOf("runs", backends.runs),
  ];
  return (await Promise.all(checks)).flat();
}

async function troubleOf(
  name: "workflows" | "runs",
  backend: Pick<Backends["runs"], "health">,
): Promise<readonly string[]> {
  const health = await backend.health(CHECK_TIMEOUT_MS, serviceItself("gateway"));
  if (health === "serving") return [];
  return [health === "away" ? name : `${name} refuses the gateway's tokens`];
}

function answers(database: Database): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
    void isAnswering(database)
      .then(resolve)
      .finally(() => clearTimeout(timer));
  });
}
