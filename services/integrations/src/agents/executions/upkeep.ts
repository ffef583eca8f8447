import type { Scope } from "@workflow/async";
import { firstIdAt } from "@workflow/db";
import type { Database } from "@workflow/db";
import type { Logger } from "pino";
import { deleteOldTokenDays, endDeadCalls } from "../../store/agent-calls.ts";
import { deleteOldExecutions } from "../../store/agent-executions.ts";
import { INTERRUPTED } from "./agent-error.ts";
import { EXECUTION_ID_PREFIX } from "./recorded-question.ts";

/** The intervals and the retention. */
export interface AgentUpkeepOptions {
  /** The interval between two polls for calls whose process is dead, in milliseconds. */
  sweepEveryMs: number;
  /** AGENT_EXECUTION_RETENTION_DAYS; 0 keeps executions for ever. */
  retentionDays: number;
  logger: Logger;
}

const DEAD_BATCH = 100;
const PURGE_EVERY_MS = 3_600_000;
/** A small batch, because one execution may hold megabytes. */
const EXECUTIONS_BATCH = 200;
const DAYS_BATCH = 5_000;
const DAY_MS = 24 * 60 * 60_000;

/** Ends the calls of dead processes and deletes old records, of all companies, until the scope ends. */
export function startAgentUpkeep(
  database: Database,
  { sweepEveryMs, retentionDays, logger }: AgentUpkeepOptions,
  scope: Scope,
): void {
  scope.loop({
    name: "dead-agent-calls",
    intervalMs: sweepEveryMs,
    logger,
    run: async () => {
      const ended = await endDeadCalls(database, JSON.stringify(INTERRUPTED), DEAD_BATCH);
      return ended === DEAD_BATCH ? "again" : undefined;
    },
  });
  scope.loop({
    name: "purge-agent-executions",
    intervalMs: PURGE_EVERY_MS,
    logger,
    run: async () => {
      const days = await deleteOldTokenDays(database, DAYS_BATCH);
      const executions = await deleteOlderThan(database, retentionDays);
      return days === DAYS_BATCH || executions === EXECUTIONS_BATCH ? "again" : undefined;
    },
  });
}

async function deleteOlderThan(database: Database, retentionDays: number): Promise<number> {
  if (retentionDays === 0) return 0;
  const oldest = new Date(Date.now() - retentionDays * DAY_MS);
  return deleteOldExecutions(database, firstIdAt(EXECUTION_ID_PREFIX, oldest), EXECUTIONS_BATCH);
}
