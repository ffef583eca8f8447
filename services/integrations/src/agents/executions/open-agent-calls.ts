import { Shares } from "@workflow/async";
import type { Scope } from "@workflow/async";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { createAgentMetrics } from "./agent-metrics.ts";
import type { AgentMetrics } from "./agent-metrics.ts";
import { startHeldCalls } from "./held-calls.ts";
import type { HeldCalls } from "./held-calls.ts";
import { createTokenBudget } from "./token-budget.ts";
import type { TokenBudget } from "./token-budget.ts";
import { startAgentUpkeep } from "./upkeep.ts";

/** The optional settings of questions to agents. */
export interface AgentCallOptions {
  /** AGENT_TOKENS_PER_DAY; no limit by default. */
  tokensPerDay?: number | undefined;
  /** AGENT_EXECUTION_RETENTION_DAYS; without it executions are kept for ever. */
  retentionDays?: number | undefined;
  /** The time for which a call outlives its process; 30 s by default. */
  leaseMs?: number | undefined;
}

/** The parts that all questions to agents share. */
export interface AgentCalls {
  readonly heldCalls: HeldCalls;
  readonly tokenBudget: TokenBudget;
  readonly agentMetrics: AgentMetrics;
  readonly agentPlaces: AgentPlaces;
}

/** Places for questions that wait or are asked in this process. Questions of steps take none. */
export interface AgentPlaces {
  /**
   * Does the work in places of the company, as many as the question's bytes need.
   *
   * @throws AppError RATE_LIMITED when the company has used its share
   */
  within<Result>(companyId: string, bytes: number, work: () => Promise<Result>): Promise<Result>;
}

const LEASE_MS = 30_000;
/** The number of polls for dead calls within one lease. */
const SWEEPS_PER_LEASE = 6;
const MIB = 1024 * 1024;
/**
 * The limit of bytes in questions that wait or are asked. A parsed, composed and sent question takes
 * some twelve times its bytes. One company gets at most half. A company beyond its half is refused, so
 * other companies are not.
 */
const UNDER_WAY = { total: 32 * MIB, perTenant: 16 * MIB };
/**
 * Every question counts at least so many bytes that a company has at most 200 questions, and all
 * companies 400.
 */
const QUESTIONS_MAX = 200;
const QUESTION_BYTES_MIN = Math.floor(UNDER_WAY.perTenant / QUESTIONS_MAX);
const BUSY_RETRY_MS = 1_000;

/** Opens the parts that all questions to agents share; the scope closes them. */
export function openAgentCalls(
  database: Database,
  { tokensPerDay = 0, retentionDays = 0, leaseMs = LEASE_MS }: AgentCallOptions,
  { logger, metricsRegistry }: { logger: Logger; metricsRegistry?: Registry | undefined },
  scope: Scope,
): AgentCalls {
  const sweepEveryMs = leaseMs / SWEEPS_PER_LEASE;
  startAgentUpkeep(database, { sweepEveryMs, retentionDays, logger }, scope);
  return {
    heldCalls: startHeldCalls(database, { leaseMs, logger }, scope),
    tokenBudget: createTokenBudget(tokensPerDay),
    agentMetrics: createAgentMetrics(metricsRegistry),
    agentPlaces: createAgentPlaces(),
  };
}

function createAgentPlaces(): AgentPlaces {
  const places = new Shares(UNDER_WAY);
  return {
    async within(companyId, bytes, work) {
      const giveBack = places.take(companyId, Math.max(bytes, QUESTION_BYTES_MIN));
      if (giveBack === null) throw tooMany();
      try {
        return await work();
      } finally {
        giveBack();
      }
    },
  };
}

function tooMany(): AppError {
  return new AppError("RATE_LIMITED", "Too many questions to agents are under way.", {
    details: { limit: "agentCalls", perCompany: QUESTIONS_MAX, bytesMax: UNDER_WAY.perTenant },
    retryAfterMs: BUSY_RETRY_MS,
  });
}
