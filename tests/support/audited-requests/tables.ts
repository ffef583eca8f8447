import { newUuid } from "@workflow/db";
import { makeTable } from "../tables.ts";
import type { WholeSystem } from "../whole-system.ts";
import type { PrepareAudited } from "./audited-request.ts";

/** Requests of tables that succeed, by route. */
export const TABLES: Readonly<Record<string, PrepareAudited>> = {
  "POST /tables": async () => ({
    path: "/tables",
    body: { name: "Contacts", metadata: { note: "hush" } },
    resourceIds: null,
  }),
  "POST /tables/import": async () => ({
    path: "/tables/import",
    body: { name: "Contacts", columns: [{ name: "a", type: "text" }], rows: [{ a: "hush" }] },
    resourceIds: null,
  }),
  "PATCH /tables/{id}": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    return { path: `/tables/${id}`, body: { name: "Renamed" }, resourceIds: [id] };
  },
  "DELETE /tables/{id}": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    return { path: `/tables/${id}`, resourceIds: [id] };
  },
  "POST /tables/{id}/rows": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    return { path: `/tables/${id}/rows`, body: { data: { name: "hush" } }, resourceIds: [] };
  },
  "POST /tables/{id}/rows/batch": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    const body = { insert: [{ data: { name: "hush" } }] };
    return { path: `/tables/${id}/rows/batch`, body, resourceIds: [] };
  },
  "PATCH /tables/{id}/rows/{rowId}": async (system) => {
    const body = { data: { name: "hush" } };
    return { path: await makeRow(system), body, resourceIds: [] };
  },
  "DELETE /tables/{id}/rows/{rowId}": async (system) => ({
    path: await makeRow(system),
    resourceIds: [],
  }),
  "POST /tables/{id}/rows/query": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    return { path: `/tables/${id}/rows/query`, resourceIds: [] };
  },
  "POST /tables/{id}/columns/{columnId}/values/query": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    return { path: `/tables/${id}/columns/name/values/query`, resourceIds: [] };
  },
  "POST /tables/{id}/aggregate": async (system) => {
    const { id } = await makeTable(system, system.acme.key);
    const body = { measures: [{ fn: "count" }] };
    return { path: `/tables/${id}/aggregate`, body, resourceIds: [] };
  },
  "POST /table-folders": async () => ({
    path: "/table-folders",
    body: { name: `Audited ${newUuid()}` },
    resourceIds: null,
  }),
  "PATCH /table-folders/tables/{tableId}": async (system) => {
    const { id } = await makeTable(system, system.acme.key, { folder: `Old ${newUuid()}` });
    const body = { folderId: null };
    return { path: `/table-folders/tables/${id}`, body, resourceIds: [id] };
  },
};

/** The path of a row. */
async function makeRow(system: WholeSystem): Promise<string> {
  const { id, rowIds } = await makeTable(system, system.acme.key, { rows: [{ name: "hush" }] });
  return `/tables/${id}/rows/${rowIds[0]}`;
}
