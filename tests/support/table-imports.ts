import { expect } from "@jest/globals";
import { z } from "zod";
import type { Answer } from "./api-client.ts";
import { rowsOf, tableSchema } from "./tables.ts";
import type { WholeSystem } from "./whole-system.ts";

const violations = z.array(z.object({ path: z.array(z.string()), message: z.string() }));

/** The columns of a table in tests of imports and exports. */
export const COLUMNS = [
  { id: "n", name: "Name", type: "text" },
  { id: "amount", name: "Amount, net", type: "number" },
  { id: "doc", name: "Doc", type: "json" },
];

/** Imports a JSON document; a text is sent as it is. */
export function importJson({ call }: Pick<WholeSystem, "call">, body: object | string) {
  return call("POST", "/tables/import", typeof body === "string" ? { raw: body } : { body });
}

/** Imports a CSV file as a table called T, unless `params` say otherwise. */
export function importCsv(
  { call }: Pick<WholeSystem, "call">,
  file: string,
  params: Record<string, string> = {},
  type = "text/csv",
) {
  const query = new URLSearchParams({ format: "csv", name: "T", ...params });
  const headers = { "content-type": type };
  return call("POST", `/tables/import?${query.toString()}`, { raw: file, headers });
}

/** The table that an import has made. */
export function made(answer: Answer) {
  expect(answer.error).toBeUndefined();
  expect(answer.status).toBe(201);
  return tableSchema.parse(answer.data);
}

/** The paths that a refused import or export names. */
export function refusedPaths(answer: Answer): string[] {
  expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
  return violations.parse(answer.error?.details).map(({ path }) => path.join("."));
}

/** The data of a table's first 100 rows. */
export async function dataOf({ call }: Pick<WholeSystem, "call">, id: string): Promise<unknown[]> {
  const rows = rowsOf(await call("GET", `/tables/${id}/rows?limit=100`));
  return rows.map(({ data }) => data);
}
