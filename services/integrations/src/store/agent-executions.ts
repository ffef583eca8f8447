import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import { z } from "zod";
import { AGENT_PROVIDERS } from "../domain/agent.ts";
import type { AgentProvider, AgentUsage } from "../domain/agent.ts";
import { FINISH_REASONS } from "../domain/finish-reason.ts";
import type { FinishReason } from "../domain/finish-reason.ts";
import { admission, admissionColumns, settlement } from "./agent-calls.ts";
import type { NewCall } from "./agent-calls.ts";

/** The statuses of an execution; all but the first are final. */
export const EXECUTION_STATUSES = ["running", "completed", "failed", "cancelled"] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

const errorText = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(
    z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()) }),
  );
const textsText = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(z.array(z.string()));

const listedRow = z.object({
  id: z.string(),
  agentId: z.string(),
  agentVersion: z.number(),
  status: z.enum(EXECUTION_STATUSES),
  provider: z.enum(AGENT_PROVIDERS),
  model: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  totalTokens: z.number(),
  durationMs: z.number().nullable(),
  finishReason: z.enum(FINISH_REASONS).nullable(),
  schemaValid: z.boolean().nullable(),
  repairAttempts: z.number(),
  warnings: textsText,
  workflowRunId: z.string().nullable(),
  error: errorText.nullable(),
  claim: z.string(),
  createdAt: z.date(),
});
const executionRow = listedRow.extend({
  userMessage: z.string().nullable(),
  inputJson: z.string(),
  outputJson: z.string().nullable(),
  rawOutput: z.string().nullable(),
});
const beginningRow = z.object({
  isAdmitted: z.boolean(),
  used: z.number(),
  resetsAt: z.date(),
  isKnown: z.boolean(),
  createdAt: z.date().nullable(),
});
const nothing = z.object({});

/** An execution without its large parts; its error has no details. */
export type ListedExecutionRow = z.output<typeof listedRow>;
/** A whole execution. */
export type ExecutionRow = z.output<typeof executionRow>;
/** The result of a request to begin an execution. */
export type Beginning = z.output<typeof beginningRow>;

/** The company and the id of an execution. */
export interface ExecutionKey {
  companyId: string;
  executionId: string;
}

/** An execution that is about to begin; its claim is that of its call. */
export interface NewExecution {
  id: string;
  agentId: string;
  agentVersion: number;
  provider: AgentProvider;
  model: string;
  inputJson: string;
  userMessage: string | null;
  workflowRunId: string | null;
  idempotencyKey: string | null;
}

/** The outcome of an execution. */
export interface ExecutionEnd {
  status: Exclude<ExecutionStatus, "running">;
  outputJson: string | null;
  rawOutput: string | null;
  usage: AgentUsage;
  durationMs: number;
  finishReason: FinishReason | null;
  schemaValid: boolean | null;
  repairAttempts: number;
  warnings: readonly string[];
  error: {
    code: string;
    message: string;
    details: Readonly<Record<string, unknown>>;
  } | null;
  /** Whether later calls with the same idempotency key get this answer. */
  keepsKey: boolean;
}

const smallColumns = sql.fragment`
  execution.id,
  execution.agent_id as "agentId",
  execution.agent_version as "agentVersion",
  execution.status,
  execution.provider,
  execution.model,
  execution.input_tokens as "inputTokens",
  execution.output_tokens as "outputTokens",
  execution.total_tokens as "totalTokens",
  execution.duration_ms as "durationMs",
  execution.finish_reason as "finishReason",
  execution.schema_valid as "schemaValid",
  execution.repair_attempts as "repairAttempts",
  execution.warnings::text as "warnings",
  execution.workflow_run_id as "workflowRunId",
  execution.claim,
  execution.created_at as "createdAt"
`;
/** The listed columns leave out messages and details: a hundred of the largest would be 35 MB. */
const listedColumns = sql.fragment`
  ${smallColumns},
  case when execution.error is not null then json_build_object(
    'code', execution.error -> 'code', 'message', execution.error -> 'message',
    'details', json_build_object()
  )::text end as "error"
`;
const columns = sql.fragment`
  ${smallColumns},
  execution.error::text as "error",
  execution.user_message as "userMessage",
  execution.input::text as "inputJson",
  execution.output::text as "outputJson",
  execution.raw_output as "rawOutput"
`;

/**
 * Stores a running execution and holds its tokens in one statement: both or neither.
 *
 * @returns `isKnown` when an execution has the same idempotency key; nothing was done then
 * @throws a violation of `agent_executions_idempotency_key` when a concurrent call has the same key
 */
export async function beginExecution(
  database: Queryable,
  call: NewCall,
  execution: NewExecution,
): Promise<Beginning> {
  const { companyId } = call;
  const isKnown = sql.fragment`
    exists (
      select from integrations.agent_executions
      where company_id = ${companyId}::uuid and idempotency_key = ${execution.idempotencyKey}::text
    )
  `;
  return database.one(sql.prepared("agent_execution_begin", beginningRow)`
    with ${admission(call, isKnown)}, begun as (
      insert into integrations.agent_executions (
        id, company_id, agent_id, agent_version, input, user_message, provider, model,
        workflow_run_id, idempotency_key, claim
      )
      select ${execution.id}, ${companyId}::uuid, ${execution.agentId},
        ${execution.agentVersion}::integer, ${execution.inputJson}::json,
        ${execution.userMessage}::text, ${execution.provider}, ${execution.model},
        ${execution.workflowRunId}::text, ${execution.idempotencyKey}::text, claim
      from held
      returning created_at
    )
    select ${admissionColumns(companyId)}, ${isKnown} as "isKnown",
      (select created_at from begun) as "createdAt",
      -- Nothing is promised yet, and the end's commit carries it along: 1 to 3 ms less before the provider is asked.
      set_config('synchronous_commit', 'off', true) as "commits"
  `);
}

/**
 * Ends an execution that still runs under this claim, releases its tokens and counts `usedTokens`.
 *
 * @returns false when nothing was changed: the claim was lost, or the execution has ended before
 */
export async function endExecution(
  database: Queryable,
  { companyId, executionId }: ExecutionKey,
  { claim, usedTokens }: { claim: string; usedTokens: number },
  end: ExecutionEnd,
): Promise<boolean> {
  const { usage } = end;
  const { rowCount } = await database.query(sql.prepared("agent_execution_end", nothing)`
    with ${settlement(claim, usedTokens)}
    update integrations.agent_executions as execution
    set status = ${end.status}, output = ${end.outputJson}::json, raw_output = ${end.rawOutput}::text,
      input_tokens = ${usage.inputTokens}::bigint, output_tokens = ${usage.outputTokens}::bigint,
      total_tokens = ${usage.totalTokens}::bigint, duration_ms = ${end.durationMs}::bigint,
      finish_reason = ${end.finishReason}::text, schema_valid = ${end.schemaValid}::boolean,
      repair_attempts = ${end.repairAttempts}::smallint,
      warnings = ${JSON.stringify(end.warnings)}::json,
      error = ${end.error === null ? null : JSON.stringify(end.error)}::json,
      idempotency_key = case when ${end.keepsKey}::boolean then execution.idempotency_key end,
      ended_at = clock_timestamp()
    from released
    where execution.company_id = ${companyId}::uuid and execution.id = ${executionId}
      and execution.claim = released.claim and execution.status = 'running'
  `);
  return rowCount > 0;
}

/** An execution of the company; null when there is none. */
export async function findExecution(
  database: Queryable,
  { companyId, executionId }: ExecutionKey,
): Promise<ExecutionRow | null> {
  return database.maybeOne(sql.prepared("agent_execution_find", executionRow)`
    select ${columns}
    from integrations.agent_executions as execution
    where execution.company_id = ${companyId}::uuid and execution.id = ${executionId}
  `);
}

/** The execution with this idempotency key; null when there is none. */
export async function findExecutionByKey(
  database: Queryable,
  companyId: string,
  idempotencyKey: string,
): Promise<ExecutionRow | null> {
  return database.maybeOne(sql.prepared("agent_execution_find_by_key", executionRow)`
    select ${columns}
    from integrations.agent_executions as execution
    where execution.company_id = ${companyId}::uuid and execution.idempotency_key = ${idempotencyKey}
  `);
}

/** Selects executions of an agent, and the page. */
export interface ExecutionFilter {
  companyId: string;
  agentId: string;
  limit: number;
  /** The last execution of the page before; null: from the beginning. */
  after: { createdAt: string; id: string } | null;
}

/** A page, newest first, and whether there is more after it. */
export async function listExecutions(
  database: Queryable,
  { companyId, agentId, limit, after }: ExecutionFilter,
): Promise<{ rows: readonly ListedExecutionRow[]; hasMore: boolean }> {
  const rows = await database.any(sql.type(listedRow)`
    select ${listedColumns}
    from integrations.agent_executions as execution
    where execution.company_id = ${companyId}::uuid and execution.agent_id = ${agentId}
      and ${
        after === null
          ? sql.fragment`true`
          : sql.fragment`(execution.created_at, execution.id) < (${after.createdAt}, ${after.id})`
      }
    order by execution.created_at desc, execution.id desc
    limit ${limit + 1}
  `);
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

/**
 * Deletes up to `limit` ended executions whose id is below this one. Ids sort by time (D1), so the
 * primary key serves the query.
 *
 * @returns the number of deleted executions
 */
export async function deleteOldExecutions(
  database: Queryable,
  belowId: string,
  limit: number,
): Promise<number> {
  const { rowCount } = await database.query(sql.prepared("agent_executions_purge", nothing)`
    delete from integrations.agent_executions
    where id in (
      select id
      from integrations.agent_executions
      where id < ${belowId} and status <> 'running'
      order by id
      limit ${limit}::integer
    )
  `);
  return rowCount;
}
