import type { Route } from "@workflow/service-gateway/routes";
import { z } from "zod";
import { workflowBody } from "./scenarios.ts";

/** What an id in a path or a query names. */
export type Resource = (typeof RESOURCES)[number];
const RESOURCES = [
  "workflow",
  "run",
  "approval",
  "secret",
  "apiKey",
  "member",
  "actor",
  "dashboard",
  "widget",
  "table",
  "row",
  "tableFolder",
  "connection",
  "agent",
  "agentExecution",
  "webhookEndpoint",
  "webhookDelivery",
  "webhookEvent",
] as const;

/** A place of a route where a caller names an object. */
export interface IdPosition {
  in: "path" | "query" | "body";
  name: string;
  resource: Resource;
}

/** Resource by the path segment before the parameter. */
const BY_SEGMENT: Readonly<Record<string, Resource>> = {
  workflows: "workflow",
  runs: "run",
  approvals: "approval",
  secrets: "secret",
  "api-keys": "apiKey",
  members: "member",
  dashboards: "dashboard",
  widgets: "widget",
  tables: "table",
  rows: "row",
  connections: "connection",
  agents: "agent",
  executions: "agentExecution",
  "webhook-endpoints": "webhookEndpoint",
  deliveries: "webhookDelivery",
  "webhook-events": "webhookEvent",
};

/** Resource by the name of a member of a query or a body; null where it names none of ours. */
const BY_FIELD: Readonly<Record<string, Resource | null>> = {
  workflowId: "workflow",
  // Of a run: kept with it, its steps look for it.
  connectionId: null,
  // Of an execution: only kept.
  workflowRunId: null,
  // At a provider.
  externalAccountId: null,
  clientId: null,
  accountId: null,
  // A step of the run that the path names.
  fromStepId: null,
  // Each is answered for itself, in the list of results.
  runIds: null,
  // Of events that an endpoint is to hear of: it hears of its own company's alone.
  workflowIds: null,
  // Of whatever kind.
  resourceId: "workflow",
  actorId: "actor",
  folderId: "tableFolder",
};

/** Members that name an object in the bodies of one route. */
const BY_ROUTE: Readonly<Record<string, Readonly<Record<string, Resource>>>> = {
  "POST /connections/{provider}/api-key": { connectionId: "connection" },
};

/**
 * Parameters of a path that name no object but a part of one, which every object has: with the value
 * that requests give them.
 */
const PARTS: Readonly<Record<string, string>> = {
  version: "1",
  // Of the catalog, which is the same for everybody.
  type: "http",
  columnId: "name",
  // Of a step of the run that has ended.
  path: "first",
  // Of the catalog, which all share.
  provider: "rillet",
};

/** Members of a query that count only together with others, which requests here do not give. */
const CONDITIONAL: Readonly<Record<string, readonly string[]>> = {
  "POST /tables/import": ["folderId"],
};

/** Queries without which a route answers 400. */
const QUERIES: Readonly<Record<string, string>> = {
  "GET /workflows/{id}/versions/compare": "?from=1&to=1",
  "GET /tables/{id}/rows/export": "?format=csv",
};

/** Bodies that a route accepts and that would be noticed if they had an effect. */
const BODIES: Readonly<Record<string, unknown>> = {
  "POST /workflows": workflowBody(),
  "POST /workflows/import": { formatVersion: 1, ...workflowBody() },
  "PUT /workflows/{id}": { name: "Taken over" },
  "POST /workflows/{id}/clone": { name: "Taken over" },
  "PATCH /workflows/{id}/canvas": {
    canvasState: { blocks: {}, edges: [], loops: {}, parallels: {} },
  },
  "POST /workflows/{id}/run": { input: {} },
  "POST /runs/{id}/restart": { fromStepId: "sleep" },
  "POST /runs/bulk": { action: "cancel", runIds: ["run_01jzsa0pjtf9d8m9d8m9d8m9d8"] },
  "POST /runs/{id}/approvals/{approvalId}": { decision: "approved" },
  "PUT /workflows/{id}/schedule": { enabled: false },
  "POST /auth/api-keys": { name: "Taken over", scopes: ["api_keys:write"] },
  "POST /auth/session": { email: "nobody@people.example", password: "taken over" },
  "PUT /auth/session": { company: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a63" },
  "POST /auth/password": { currentPassword: "taken over", newPassword: "taken over" },
  "POST /members": { email: "taken@over.example", password: "taken over", role: "viewer" },
  "PATCH /members/{userId}": { role: "viewer" },
  "POST /workflows/{workflowId}/secrets": { key: "TAKEN_OVER", value: "taken over" },
  "PUT /workflows/{workflowId}/secrets/{key}": { value: "taken over" },
  "POST /connections": { name: "Taken over", provider: "finance", externalAccountId: "taken" },
  // No provider is asked about a key of this form.
  "POST /connections/{provider}/api-key": { apiKey: "taken over\n" },
  "POST /agents": { name: "Taken over", type: "custom", systemPrompt: "Taken over." },
  "PUT /agents/{id}": { name: "Taken over" },
  "POST /agents/{id}/test": { input: {}, userMessage: "Taken over." },
  "POST /agents/{id}/execute": { input: {}, userMessage: "Taken over." },
  "POST /agents/{id}/evaluate": { cases: [{ input: {}, expect: { equals: "Taken over" } }] },
  "POST /webhook-endpoints": { name: "Taken over", url: "https://taken.over.example/" },
  "PUT /webhook-endpoints/{id}": { name: "Taken over" },
  "POST /webhook-endpoints/{id}/test": { eventType: "workflow.failed" },
  "POST /webhook-endpoints/{id}/recover": { since: "2026-01-01T00:00:00Z" },
  "POST /dashboards": { name: "Taken over" },
  "PATCH /dashboards/{id}": { name: "Taken over" },
  "POST /dashboards/{id}/widgets": { type: "text", title: "Taken over" },
  "PATCH /dashboards/{id}/widgets/{widgetId}": { title: "Taken over" },
  "PUT /dashboards/{id}/layout": { widgets: [] },
  "POST /tables": { name: "Taken over" },
  "POST /tables/import": {
    name: "Taken over",
    columns: [{ name: "name", type: "text" }],
    rows: [{ name: "taken over" }],
  },
  "PATCH /tables/{id}": { name: "Taken over" },
  "POST /tables/{id}/rows": { data: { name: "taken over" } },
  "POST /tables/{id}/rows/batch": { insert: [{ data: { name: "taken over" } }] },
  "PATCH /tables/{id}/rows/{rowId}": { data: { name: "taken over" } },
  "POST /tables/{id}/aggregate": { measures: [{ fn: "count" }] },
  "POST /table-folders": { name: "Taken over" },
  "PATCH /table-folders/tables/{tableId}": { folderId: null },
};

/** Ids that name nothing: one in the form of each resource's, and one in no form at all. */
export const UNKNOWN_ID: Readonly<Record<Resource, string>> = {
  workflow: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a",
  run: "run_01jzsa0pjtf9d8m9d8m9d8m9d8",
  approval: "apr_01jzsa0pjtf9d8m9d8m9d8m9d8",
  secret: "NOT_THERE",
  apiKey: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5b",
  member: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5c",
  actor: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5d",
  dashboard: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5e",
  widget: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5f",
  table: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a60",
  row: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a61",
  tableFolder: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a62",
  connection: "conn_01jzsa0pjtf9d8m9d8m9d8m9d8",
  agent: "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a64",
  agentExecution: "aex_01jzsa0pjtf9d8m9d8m9d8m9d8",
  webhookEndpoint: "whe_01jzsa0pjtf9d8m9d8m9d8m9d8",
  webhookDelivery: "whd_01jzsa0pjtf9d8m9d8m9d8m9d8",
  webhookEvent: "evt_01jzsa0pjtf9d8m9d8m9d8m9d8",
};
export const MALFORMED_ID = "no-id-at-all";

/** `GET /workflows/{id}`: how a route is named in tests. */
export function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

/** A body for a route's request; undefined when it may go without. Throws when none is known. */
export function bodyOf(route: Route): unknown {
  const body = BODIES[nameOf(route)];
  const needed = !["GET", "DELETE"].includes(route.method) && !route.body.optional;
  if (body === undefined && needed) throw new Error(`Add a body for ${nameOf(route)}.`);
  return body;
}

/** Every place where a request of the route names an object. Throws for one that is not known. */
export function idPositionsOf(route: Route): IdPosition[] {
  const positions: IdPosition[] = [];
  const segments = route.path.split("/");
  for (const name of Object.keys(route.params)) {
    if (name in PARTS) continue;
    const resource = BY_SEGMENT[segments[segments.indexOf(`{${name}}`) - 1] ?? ""];
    if (resource === undefined) throw unknownPosition(route, name);
    positions.push({ in: "path", name, resource });
  }
  for (const [place, schema] of [
    ["query", route.query],
    ["body", route.body.schema],
  ] as const) {
    for (const name of membersOf(schema)) {
      if (!/(?:^id|Ids?)$/.test(name)) continue;
      if (place === "query" && CONDITIONAL[nameOf(route)]?.includes(name) === true) continue;
      const resource = BY_ROUTE[nameOf(route)]?.[name] ?? BY_FIELD[name];
      if (resource === undefined) throw unknownPosition(route, name);
      if (resource !== null) positions.push({ in: place, name, resource });
    }
  }
  return positions;
}

/** The path of a request with these values of its parameters. */
export function fillPath(route: Route, valueOf: (name: string) => string): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_match, name: string) =>
    encodeURIComponent(PARTS[name] ?? valueOf(name)),
  );
  return path + (QUERIES[nameOf(route)] ?? "");
}

/** The path of a request that names only objects that do not exist. */
export function fillWithUnknown(route: Route): string {
  const positions = idPositionsOf(route);
  return fillPath(route, (name) => {
    const position = positions.find((each) => each.in === "path" && each.name === name);
    if (position === undefined) throw unknownPosition(route, name);
    return UNKNOWN_ID[position.resource];
  });
}

function membersOf(schema: z.ZodType): string[] {
  if (!(schema instanceof z.ZodObject)) throw new Error("A query or body is not a zod object.");
  return Object.keys(schema.shape);
}

function unknownPosition(route: Route, name: string): Error {
  return new Error(`Say what ${name} of ${nameOf(route)} names, in ${import.meta.filename}.`);
}
