import { ROUTES } from "@workflow/service-gateway/routes";
import type { Route } from "@workflow/service-gateway/routes";
import { z } from "zod";
import { prepareAudited } from "../../support/audited-requests/prepare-audited.ts";
import { makeDashboard, signInEditor } from "../../support/dashboards.ts";
import {
  bodyOf,
  fillPath,
  fillWithUnknown,
  idPositionsOf,
  nameOf,
} from "../../support/route-requests.ts";
import type { Resource } from "../../support/route-requests.ts";
import { getRun } from "../../support/scenarios.ts";
import { makeTable } from "../../support/tables.ts";
import type { WholeSystem } from "../../support/whole-system.ts";
import type { Hide } from "../hide.ts";

const withIds = z.array(z.looseObject({ id: z.string() }));

/** The tools of the tour of routes. */
export interface RoutesTour {
  hide: Hide;
  /** Runs with much content. */
  runIds: readonly string[];
  /** Further objects with content. */
  known: Partial<Record<Resource, string>>;
  /** A value that is no secret. */
  note: string;
}

/**
 * Asks every route for an object that exists and for one that does not, with a body in the right form, and once
 * with a wrong body.
 */
export async function tourRoutes(
  client: WholeSystem,
  { hide, runIds, known, note }: RoutesTour,
): Promise<void> {
  for (const route of ROUTES.filter(({ method }) => method !== "GET")) {
    const { path, resourceIds: _, ...options } = await prepareAudited(client, nameOf(route));
    await client.call(route.method, path, options);
  }
  const ids = { ...(await makeIds(client, runIds, note)), ...known };
  for (const runId of runIds) {
    for (const route of ROUTES.filter(({ method }) => method === "GET")) {
      if (route.path.startsWith("/runs/{id}")) await get(client, route, { ...ids, run: runId });
    }
    const { stepResults } = await getRun(client, runId);
    for (const { path } of stepResults) {
      await client.call("GET", `/runs/${runId}/steps/${encodeURIComponent(path)}`);
    }
  }
  for (const route of ROUTES) {
    if (route.method === "GET") await get(client, route, ids);
    const body = bodyWith(bodyOf(route), hide);
    await send(client, route, fillWithUnknown(route), { body });
    if (route.method !== "GET") {
      const raw = `{"value": "${hide(`body of ${nameOf(route)} that is cut`)}`;
      await send(client, route, fillWithUnknown(route), { raw });
    }
  }
}

/** Objects with content, one of each resource. */
async function makeIds(
  client: WholeSystem,
  [runId = ""]: readonly string[],
  note: string,
): Promise<Partial<Record<Resource, string>>> {
  const key = client.acme.key;
  const session = await signInEditor(client, client.acme);
  const dashboard = await makeDashboard(client, session);
  const table = await makeTable(client, key, { rows: [{ name: note }], folder: "Folder" });
  const { data } = await client.call("GET", "/connections");
  const run = z.looseObject({ workflowId: z.string() });
  const { workflowId } = run.parse((await client.call("GET", `/runs/${runId}`)).data);
  return {
    workflow: workflowId,
    run: runId,
    dashboard: dashboard.id,
    widget: dashboard.widgetId,
    table: table.id,
    row: table.rowIds[0] ?? "",
    tableFolder: table.folderId,
    connection: withIds.parse(data)[0]?.id ?? "",
  };
}

async function get(
  client: WholeSystem,
  route: Route,
  ids: Partial<Record<Resource, string>>,
): Promise<void> {
  const positions = idPositionsOf(route);
  const path = fillPath(route, (name) => {
    const position = positions.find((each) => each.in === "path" && each.name === name);
    return (position === undefined ? undefined : ids[position.resource]) ?? "none";
  });
  await send(client, route, path, {});
}

/** A body whose texts are secrets; an error that refuses it holds none of them. */
function bodyWith(body: unknown, hide: Hide): unknown {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  return { ...body, password: hide("password in any body"), apiKey: hide("key in any body") };
}

/** Sends a request that no usual client sends; its answer may be anything. */
async function send(
  client: WholeSystem,
  route: Route,
  path: string,
  { body, raw }: { body?: unknown; raw?: string },
): Promise<void> {
  const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const hasContent = content !== undefined && route.method !== "GET";
  const response = await fetch(`${client.origin}/api/v1${path}`, {
    method: route.method,
    redirect: "manual",
    headers: {
      "x-api-key": client.acme.key,
      ...(hasContent ? { "content-type": "application/json" } : {}),
    },
    ...(hasContent ? { body: content } : {}),
  });
  await response.arrayBuffer();
}
