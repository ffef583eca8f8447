import type { CursorCodec } from "@workflow/db";
import { isStorableText } from "@workflow/json";
import type { ListAgentsRequest, ListAgentsResponse } from "@workflow/proto/integrations/v1/agents";
import { AgentStatus as MessageStatus } from "@workflow/proto/integrations/v1/agents";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { AnswerTurns } from "@workflow/service";
import { AGENT_STATUSES } from "../domain/agent.ts";
import type { Agent, AgentStatus, AgentType } from "../domain/agent.ts";
import { listCoreAgents } from "../agents/core/core-agents.ts";
import { hasAtMost } from "../agents/limits.ts";
import type { ServiceContext } from "../context.ts";
import { listOwnAgents } from "../store/agents.ts";
import type { AgentFilter } from "../store/agents.ts";
import { agentTypeOf, MESSAGE_STATUS, toAgentMessage } from "./agent-message.ts";
import { wrongField } from "./connection-request.ts";
import { parseLimit } from "./page-limit.ts";

const SEARCH_CHARS_MAX = 255;
/** The size of a page with the agent that takes it beyond 1 MiB. */
const PAGE_BYTES = 2 * 1024 * 1024;
/** The limit of pages that are read at the same time, since other calls need the pool's connections too. */
const READ_AT_A_TIME = { perTenant: 2 * PAGE_BYTES, total: 4 * PAGE_BYTES };

/** Lists agents of the company, newest first (D6), and behind them the core agents in their order. */
export function listAgents({
  database,
  cursors,
  models,
}: ServiceContext): UnaryMethod<ListAgentsRequest, ListAgentsResponse> {
  const readings = new AnswerTurns(READ_AT_A_TIME);
  const readOwn = async (filter: AgentFilter, signal: AbortSignal) => {
    const end = await readings.take(filter.companyId, PAGE_BYTES, signal);
    try {
      return await listOwnAgents(database, filter);
    } finally {
      end();
    }
  };
  return rpc({
    scopes: "workflows:read",
    async handler(request, { identity, signal }) {
      const filter = { companyId: identity.companyId.toLowerCase(), ...parseFilter(request) };
      const limit = parseLimit(request.page?.limit ?? 0);
      const core = request.withoutCore
        ? []
        : matching(listCoreAgents(models.coreProvider()), filter);
      const { companyId, type, status, search } = filter;
      const binding = JSON.stringify([
        "agents",
        companyId,
        type,
        status,
        search,
        request.withoutCore,
      ]);
      const start = parseCursor(cursors, binding, request.page?.cursor ?? "");
      const own =
        start.lastCoreId === null
          ? await readOwn({ ...filter, limit, after: start.after }, signal)
          : { agents: [], hasMore: false };
      const rest = own.hasMore ? [] : agentsAfter(core, start.lastCoreId);
      const page = [...own.agents, ...rest.slice(0, limit - own.agents.length)];
      const hasMore = own.hasMore || own.agents.length + rest.length > limit;
      const last = hasMore ? page.at(-1) : undefined;
      return {
        agents: page.map((agent) => toAgentMessage(agent, models)),
        page: { cursor: last ? cursors.encode(binding, positionOf(last)) : "", hasMore },
      };
    },
  });
}

interface Filter {
  /** Null: all types. */
  type: AgentType | null;
  status: AgentStatus;
  search: string;
}

function parseFilter({ type, status, search }: ListAgentsRequest): Filter {
  if (!hasAtMost(search, SEARCH_CHARS_MAX) || !isStorableText(search)) {
    throw wrongField("search", `must be storable text of at most ${SEARCH_CHARS_MAX} characters`);
  }
  return { type: agentTypeOf(type) ?? null, status: parseStatus(status), search };
}

function parseStatus(status: MessageStatus): AgentStatus {
  if (status === MessageStatus.UNSPECIFIED) return "active";
  const known = AGENT_STATUSES.find((each) => MESSAGE_STATUS[each] === status);
  if (known !== undefined) return known;
  throw wrongField("status", `must be one of ${AGENT_STATUSES.join(", ")}`);
}

function matching(agents: readonly Agent[], { type, status, search }: Filter): readonly Agent[] {
  const part = search.toLowerCase();
  return agents.filter(
    (agent) =>
      agent.status === status &&
      (type === null || agent.type === type) &&
      agent.name.toLowerCase().includes(part),
  );
}

/** The agents that follow the one with this id; all of them after null. */
function agentsAfter(agents: readonly Agent[], lastId: string | null): readonly Agent[] {
  return agents.slice(agents.findIndex(({ id }) => id === lastId) + 1);
}

/** Where a page begins. */
interface Start {
  /** The last shown agent of the company; null when none was shown, or all were. */
  after: { createdAt: string; id: string } | null;
  /** The last shown core agent; null when none was shown. */
  lastCoreId: string | null;
}

/** Cursors are signed, so a cursor that decodes was made by `positionOf`. */
function parseCursor(cursors: CursorCodec, binding: string, cursor: string): Start {
  if (cursor === "") return { after: null, lastCoreId: null };
  const [id, createdAt] = cursors.decode(binding, cursor);
  if (id === undefined) throw new Error("A cursor holds no position.");
  if (createdAt === undefined) return { after: null, lastCoreId: id };
  return { after: { createdAt, id }, lastCoreId: null };
}

/** The position of a core agent is its id alone, because core agents have a fixed order. */
function positionOf(agent: Agent): string[] {
  return agent.isCore ? [agent.id] : [agent.id, agent.createdAt.toISOString()];
}
