import { constraintOf, sql } from "@workflow/db";
import type { Queryable, Transaction } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { z } from "zod";
import { AGENT_PROVIDERS, AGENT_STATUSES, AGENT_TYPES } from "../domain/agent.ts";
import type { Agent, AgentProvider, AgentType } from "../domain/agent.ts";

/** Identifies an agent of a company; the id is a UUID in lower case. */
export interface AgentKey {
  companyId: string;
  agentId: string;
}

/** The parts of an agent that its author decides. */
export interface AgentContent {
  name: string;
  description: string | null;
  type: AgentType;
  provider: AgentProvider;
  systemPrompt: string;
  outputSchemaJson: string | null;
  temperature: number;
  maxTokens: number;
}

const storedRow = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  type: z.enum(AGENT_TYPES),
  status: z.enum(AGENT_STATUSES),
  provider: z.enum(AGENT_PROVIDERS),
  systemPrompt: z.string(),
  outputSchemaJson: z.string().nullable(),
  temperature: z.number(),
  maxTokens: z.number(),
  version: z.number(),
  createdAt: z.date(),
  updatedAt: z.date(),
});
const agentRow = storedRow.transform(toAgent);
const listedRow = storedRow.extend({ found: z.number() });
const idRow = z.object({ id: z.string() });
const nothing = z.object({});

const agentColumns = sql.fragment`
  agent.id,
  agent.name,
  agent.description,
  agent.type,
  agent.status,
  agent.provider,
  agent.system_prompt as "systemPrompt",
  agent.output_schema::text as "outputSchemaJson",
  agent.temperature,
  agent.max_tokens as "maxTokens",
  agent.version,
  agent.created_at as "createdAt",
  agent.updated_at as "updatedAt"
`;

/** An agent of the company, whatever its status; null when there is none. */
export async function findOwnAgent(
  database: Queryable,
  { companyId, agentId }: AgentKey,
): Promise<Agent | null> {
  return database.maybeOne(sql.prepared("agent_find", agentRow)`
    select ${agentColumns}
    from integrations.agents as agent
    where agent.company_id = ${companyId} and agent.id = ${agentId}
  `);
}

/** An agent of the company, locked until the transaction ends; null when there is none. */
export async function lockAgent(
  transaction: Transaction,
  { companyId, agentId }: AgentKey,
): Promise<Agent | null> {
  return transaction.maybeOne(sql.prepared("agent_lock", agentRow)`
    select ${agentColumns}
    from integrations.agents as agent
    where agent.company_id = ${companyId} and agent.id = ${agentId}
    for update
  `);
}

/** Those of these ids that are active agents of the company. */
export async function listActiveAgentIds(
  database: Queryable,
  companyId: string,
  agentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.any(sql.type(idRow)`
    select agent.id
    from integrations.agents as agent
    where agent.company_id = ${companyId}
      and agent.id = any(${sql.array([...agentIds], "uuid")})
      and agent.status = 'active'
  `);
  return new Set(rows.map(({ id }) => id));
}

/** Locks the creation of the company's agents until the transaction ends, so that they can be counted. */
export async function lockAgentsOf(transaction: Transaction, companyId: string): Promise<void> {
  const name = `integrations agents ${companyId}`;
  await transaction.query(sql.prepared("agents_lock", nothing)`
    select pg_advisory_xact_lock(hashtextextended(${name}, 0))
  `);
}

/**
 * Stores a new agent; null when the company has `activeMax` active ones. The transaction must hold the
 * company's lock.
 *
 * @throws AppError BAD_REQUEST when an active agent has the name
 */
export async function insertAgent(
  transaction: Transaction,
  { companyId, agentId }: AgentKey,
  content: AgentContent,
  activeMax: number,
): Promise<Agent | null> {
  return refusingTakenName(
    content.name,
    transaction.maybeOne(sql.prepared("agent_insert", agentRow)`
      insert into integrations.agents as agent (
        id, company_id, name, description, type, provider, system_prompt, output_schema, temperature,
        max_tokens, content_bytes
      )
      select
        ${agentId}, ${companyId}, ${content.name}, ${content.description}, ${content.type},
        ${content.provider}, ${content.systemPrompt}, ${content.outputSchemaJson}::json,
        ${content.temperature}::double precision, ${content.maxTokens}::integer,
        ${contentBytes(content)}::integer
      where (
        select count(*)
        from integrations.agents as active
        where active.company_id = ${companyId} and active.status = 'active'
      ) < ${activeMax}::integer
      returning ${agentColumns}
    `),
  );
}

/**
 * Gives an active agent new content and the next version; null when it is not active or has another
 * version.
 *
 * @throws AppError BAD_REQUEST when another active agent has the name
 */
export async function updateAgent(
  transaction: Transaction,
  { companyId, agentId }: AgentKey,
  version: number,
  content: AgentContent,
): Promise<Agent | null> {
  return refusingTakenName(
    content.name,
    transaction.maybeOne(sql.prepared("agent_update", agentRow)`
      update integrations.agents as agent
      set
        name = ${content.name},
        description = ${content.description},
        type = ${content.type},
        provider = ${content.provider},
        system_prompt = ${content.systemPrompt},
        output_schema = ${content.outputSchemaJson}::json,
        temperature = ${content.temperature}::double precision,
        max_tokens = ${content.maxTokens}::integer,
        content_bytes = ${contentBytes(content)}::integer,
        version = agent.version + 1,
        updated_at = clock_timestamp()
      where agent.company_id = ${companyId}
        and agent.id = ${agentId}
        and agent.status = 'active'
        and agent.version = ${version}
      returning ${agentColumns}
    `),
  );
}

/** Deprecates an active agent; null when it is not active. */
export async function deprecateAgent(
  transaction: Transaction,
  { companyId, agentId }: AgentKey,
): Promise<Agent | null> {
  return transaction.maybeOne(sql.prepared("agent_deprecate", agentRow)`
    update integrations.agents as agent
    set status = 'deprecated', updated_at = clock_timestamp()
    where agent.company_id = ${companyId} and agent.id = ${agentId} and agent.status = 'active'
    returning ${agentColumns}
  `);
}

/** Deletes all but the most recently deprecated agents of a company. */
export async function trimDeprecatedAgents(
  transaction: Transaction,
  companyId: string,
  keptMax: number,
): Promise<void> {
  await transaction.query(sql.prepared("agents_trim", nothing)`
    delete from integrations.agents
    where id in (
      select agent.id
      from integrations.agents as agent
      where agent.company_id = ${companyId} and agent.status = 'deprecated'
      order by agent.updated_at desc, agent.id desc
      offset ${keptMax}::integer
    )
  `);
}

/** Selects agents of a company, and the page. */
export interface AgentFilter {
  companyId: string;
  status: Agent["status"];
  /** Null: all types. */
  type: AgentType | null;
  /** A part of the name in any case; an empty text matches all names. */
  search: string;
  limit: number;
  /** The last agent of the page before; null: from the beginning. */
  after: { createdAt: string; id: string } | null;
}

/** The limit of texts and schemas on one page, as JSON: a hundred of the largest would be 65 MiB. */
const PAGE_BYTES_MAX = 1024 * 1024;

/**
 * A page, newest first, and whether more agents follow. A page ends with the agent that takes its texts
 * and schemas to 1 MiB of JSON. A company has few enough agents for a search to scan all of them.
 */
export async function listOwnAgents(
  database: Queryable,
  { companyId, status, type, search, limit, after }: AgentFilter,
): Promise<{ agents: readonly Agent[]; hasMore: boolean }> {
  const rows = await database.any(sql.type(listedRow)`
    with page as (
      select agent.id, agent.content_bytes, agent.created_at
      from integrations.agents as agent
      where agent.company_id = ${companyId}
        and agent.status = ${status}
        and ${type === null ? sql.fragment`true` : sql.fragment`agent.type = ${type}`}
        and ${search === "" ? sql.fragment`true` : nameContains(search)}
        and ${
          after === null
            ? sql.fragment`true`
            : sql.fragment`(agent.created_at, agent.id) < (${after.createdAt}, ${after.id})`
        }
      order by agent.created_at desc, agent.id desc
      limit ${limit + 1}
    ),
    measured as (
      select page.id, sum(page.content_bytes) over newest_first - page.content_bytes as bytes_before
      from page
      window newest_first as (order by page.created_at desc, page.id desc)
    )
    select ${agentColumns}, (select count(*) from page) as found
    from measured
    join integrations.agents as agent on agent.id = measured.id
    where measured.bytes_before < ${PAGE_BYTES_MAX} and agent.company_id = ${companyId}
    order by agent.created_at desc, agent.id desc
    limit ${limit}
  `);
  const agents = rows.map(({ found: _found, ...row }) => toAgent(row));
  return { agents, hasMore: (rows[0]?.found ?? 0) > rows.length };
}

/** Compares by the rules of Unicode, whatever the database's locale is. */
function nameContains(search: string) {
  return sql.fragment`
    strpos(
      lower(agent.name collate "und-x-icu"),
      lower(${search}::text collate "und-x-icu")
    ) > 0
  `;
}

function toAgent(row: z.output<typeof storedRow>): Agent {
  return { ...row, isCore: false };
}

/** The bytes of an agent in an answer; a control character takes six bytes in JSON. */
function contentBytes({ description, systemPrompt, outputSchemaJson }: AgentContent): number {
  const texts = JSON.stringify([description, systemPrompt]);
  return Buffer.byteLength(texts) + Buffer.byteLength(outputSchemaJson ?? "");
}

async function refusingTakenName<T>(name: string, stored: Promise<T>): Promise<T> {
  try {
    return await stored;
  } catch (error) {
    if (constraintOf(error) !== "agents_active_name_key") throw error;
    throw new AppError("BAD_REQUEST", `An agent named "${name}" already exists.`, {
      violations: [{ path: ["name"], message: "is the name of another agent" }],
      cause: error,
    });
  }
}
