import type { GreedCase } from "../support/greed-case.ts";
import { agentQuestions } from "./agent-questions.ts";
import { evaluations } from "./agents.ts";
import { forms, inputPatterns, longExpressions, plans } from "./definitions.ts";
import { dueRuns } from "./due-runs.ts";
import { forkBomb, restartInForEach, slowExpressions } from "./executions.ts";
import { largeRun } from "./large-run.ts";
import { requestBodies } from "./request-bodies.ts";
import { schedules, tableEvents } from "./triggers.ts";
import { syncWaits, watchers } from "./waits.ts";
import { deadEndpoints, replays, testCalls, unknownPaths } from "./webhooks.ts";

/** Every way to be greedy that has hurt once, or could. */
export const CASES: readonly GreedCase[] = [
  agentQuestions,
  requestBodies,
  largeRun,
  dueRuns,
  forms,
  longExpressions,
  inputPatterns,
  plans,
  slowExpressions,
  restartInForEach,
  forkBomb,
  watchers,
  syncWaits,
  schedules,
  tableEvents,
  evaluations,
  deadEndpoints,
  unknownPaths,
  replays,
  testCalls,
];
