import type { Scope } from "@workflow/async";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import type { Deployment } from "../deployments/deployment-cache.ts";
import { DEFAULT_POOL, poolOf } from "../domain/worker-pool.ts";
import type { PoolRule } from "../domain/worker-pool.ts";
import { listPoolRules } from "../store/worker-pools.ts";

/** The greatest age of the rules by which a process stores runs. */
const RULES_MS = 2_000;

/** The rules that say which workers execute a run, as this process knows them (ADR 63). */
export interface WorkerPools {
  /** The pool for a run. For an unknown deployment (undefined) its company's own rule counts. */
  of(companyId: string, deployment: Deployment | undefined): string;
}

/** Reads the rules now, and repeatedly until the scope closes. */
export async function startWorkerPools(
  { database, logger }: { database: Database; logger: Logger },
  scope: Scope,
): Promise<WorkerPools> {
  let byCompany = group(await listPoolRules(database));
  scope.loop({
    name: "read-worker-pools",
    intervalMs: RULES_MS,
    logger,
    run: async () => {
      byCompany = group(await listPoolRules(database));
    },
  });
  return {
    of(companyId, deployment) {
      const rules = byCompany.get(companyId);
      if (rules === undefined) return DEFAULT_POOL;
      return poolOf(rules, deployment?.compiled?.definition.settings.tags ?? []);
    },
  };
}

function group(rules: readonly PoolRule[]): ReadonlyMap<string, readonly PoolRule[]> {
  return Map.groupBy(rules, ({ companyId }) => companyId);
}
