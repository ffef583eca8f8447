import { ResourceNotFoundError } from "@modelcontextprotocol/server";
import type {
  ListResourcesResult,
  ReadResourceResult,
  ResourceTemplateType,
} from "@modelcontextprotocol/server";
import { AppError, isAppError } from "@workflow/errors";
import type { RouteContext } from "../route-context.ts";
import type { Route } from "../route-table-entry.ts";
import { getRunLogs } from "../routes/runs/get-run-logs.ts";
import { getRun } from "../routes/runs/get-run.ts";
import { getTable } from "../routes/tables/get-table.ts";
import { listRows } from "../routes/tables/list-rows.ts";
import { callRoute, requireScope } from "./call-route.ts";
import { quoted } from "./protocol-error.ts";

const JSON_TYPE = "application/json";
/** The largest document for a model; larger ones are read through the REST API. */
const TEXT_CHARS_MAX = 1024 * 1024;
/** The rows of a table in one read; a model reads further ones by `offset`. */
const ROWS_MAX = "100";

/** A kind of resource: its address, and the operation of the API that reads it. */
interface ResourceKind {
  uri: RegExp;
  template: ResourceTemplateType;
  route: Route;
  query?: Readonly<Record<string, string>>;
}

const KINDS: readonly ResourceKind[] = [
  {
    uri: /^workflow:\/\/runs\/(?<id>[^/?#]+)$/,
    route: getRun,
    template: {
      uriTemplate: "workflow://runs/{id}",
      name: "run",
      title: "A run",
      description: "The status, output and steps of a run.",
      mimeType: JSON_TYPE,
    },
  },
  {
    uri: /^workflow:\/\/runs\/(?<id>[^/?#]+)\/logs$/,
    route: getRunLogs,
    template: {
      uriTemplate: "workflow://runs/{id}/logs",
      name: "run-logs",
      title: "The logs of a run",
      description: "What the steps of a run did, in the order in which they ran.",
      mimeType: JSON_TYPE,
    },
  },
  {
    uri: /^workflow:\/\/tables\/(?<id>[^/?#]+)$/,
    route: getTable,
    template: {
      uriTemplate: "workflow://tables/{id}",
      name: "table",
      title: "A table",
      description: "The columns of a table, and how many rows it has.",
      mimeType: JSON_TYPE,
    },
  },
  {
    uri: /^workflow:\/\/tables\/(?<id>[^/?#]+)\/rows(?:\?offset=(?<offset>\d{1,15}))?$/,
    route: listRows,
    query: { limit: ROWS_MAX },
    template: {
      uriTemplate: "workflow://tables/{id}/rows{?offset}",
      name: "table-rows",
      title: "Rows of a table",
      description: `Up to ${ROWS_MAX} rows of a table, from an offset on.`,
      mimeType: JSON_TYPE,
    },
  },
];

/** The kinds of resources, for clients that fill in an id. */
export const RESOURCE_TEMPLATES: readonly ResourceTemplateType[] = KINDS.map(
  ({ template }) => template,
);

/** The address of a run, for links in the results of tools. */
export function runUri(runId: string): string {
  return `workflow://runs/${runId}`;
}

/** The size of a page; clients read the next one by its cursor. */
const PAGE_RESOURCES = 200;

/** The tables of the caller's company, newest first. Runs are not listed; tools link to theirs. */
export async function listResources(
  context: RouteContext,
  cursor?: string,
): Promise<ListResourcesResult> {
  requireScope(context, "workflows:read");
  const { tables } = await context.tables.listTables({}, context.call);
  const start = cursor === undefined ? 0 : tables.findIndex(({ id }) => id === cursor) + 1;
  if (cursor !== undefined && start === 0) throw invalidCursor();
  const page = tables.slice(start, start + PAGE_RESOURCES);
  const last = page.at(-1);
  const hasMore = start + page.length < tables.length;
  return {
    resources: page.map(({ id, name, description }) => ({
      uri: `workflow://tables/${id}/rows`,
      name,
      title: name,
      description: description ?? "A data table.",
      mimeType: JSON_TYPE,
    })),
    ...(hasMore && last !== undefined ? { nextCursor: last.id } : {}),
  };
}

function invalidCursor(): AppError {
  return new AppError("BAD_REQUEST", "The cursor is of no page. Begin without one.", {
    violations: [{ path: ["cursor"], message: "is not valid" }],
  });
}

/** Reads a resource by its address, as the REST API would answer. */
export async function readResource(
  context: RouteContext,
  uri: string,
): Promise<ReadResourceResult> {
  for (const { uri: pattern, route, query } of KINDS) {
    const groups = pattern.exec(uri)?.groups;
    if (groups?.["id"] === undefined) continue;
    const { id, offset } = groups;
    const text = await read(context, uri, route, {
      params: { id },
      query: { ...query, ...(offset === undefined ? {} : { offset }) },
    });
    return { contents: [{ uri, mimeType: JSON_TYPE, text }] };
  }
  throw notFound(uri);
}

async function read(
  context: RouteContext,
  uri: string,
  route: Route,
  request: Parameters<typeof callRoute>[2],
): Promise<string> {
  try {
    return await callRoute(context, route, request, TEXT_CHARS_MAX);
  } catch (error) {
    // As in the API, a malformed id is not found.
    if (isAppError(error) && error.reason === "NOT_FOUND") throw notFound(uri);
    throw error;
  }
}

function notFound(uri: string): ResourceNotFoundError {
  return new ResourceNotFoundError(uri, `Resource ${quoted(uri)} not found`);
}
