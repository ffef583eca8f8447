import type { Command } from "@commander-js/extra-typings";
import { addExport } from "./export.ts";
import { addImport } from "./import.ts";
import { addList, addRows } from "./read.ts";

/** Adds `tables` and its verbs. */
export function addTables(program: Command): void {
  const tables = program.command("tables").description("Data tables: read, import, export");
  for (const add of [addList, addRows, addImport, addExport]) add(tables);
}
