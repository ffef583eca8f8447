import { isJsonObject } from "@workflow/json";
import { storableJson } from "../../domain/storable-json.ts";
import { ActionInputs, invalidInput } from "../actions/inputs.ts";
import type { TablesCaller } from "../effects/tables-client.ts";
import type { Execution } from "../execution.ts";

/** The actions on data tables (D17). */
export type TableAction = "table.query" | "table.insert" | "table.update" | "table.delete";

const ROWS_MAX = 100;

/**
 * Reads or writes rows of one of the company's tables.
 *
 * @param key names a write; a write is done once under its key
 * @returns the step's output
 * @throws StepError
 */
export async function runTableAction(
  { effects: { tables }, facts, signal, scrubber }: Execution,
  action: TableAction,
  config: unknown,
  key: string,
): Promise<unknown> {
  const inputs = new ActionInputs(config);
  const caller: TablesCaller = {
    companyId: facts.companyId,
    runId: facts.id,
    requestId: facts.requestId,
    traceparent: facts.traceparent,
  };
  const tableId = inputs.text("tableId");
  /** Everybody in the company can read a stored row, so secrets are removed from it (D19). */
  const data = (): string => {
    const value = objectOf(inputs, "data");
    return storableJson(scrubber === null ? value : scrubber.json(value));
  };
  switch (action) {
    case "table.query":
      return tables.query(caller, { tableId, ...readQuery(inputs) }, signal);
    case "table.insert":
      return tables.insert(caller, { tableId, data: data() }, key, signal);
    case "table.update": {
      const rowId = inputs.text("rowId");
      const row = { tableId, rowId, data: data(), merge: readMerge(inputs) };
      return tables.update(caller, row, key, signal);
    }
    case "table.delete":
      await tables.delete(caller, { tableId, rowId: inputs.text("rowId") }, key, signal);
      return { deleted: true };
    default:
      return action satisfies never;
  }
}

function readQuery(inputs: ActionInputs) {
  return {
    filter: inputs.has("filter") ? JSON.stringify(objectOf(inputs, "filter")) : undefined,
    sort: inputs.has("sort") ? inputs.text("sort") : undefined,
    order: inputs.has("order") ? inputs.oneOf("order", ["asc", "desc"]) : undefined,
    limit: readCount(inputs, "limit", 1, ROWS_MAX),
    offset: readCount(inputs, "offset", 0, Number.MAX_SAFE_INTEGER),
  };
}

function readCount(
  inputs: ActionInputs,
  key: string,
  min: number,
  max: number,
): number | undefined {
  if (!inputs.has(key)) return undefined;
  const count = inputs.number(key);
  if (Number.isInteger(count) && count >= min && count <= max) return count;
  throw invalidInput(key, `must be a whole number from ${min} to ${max}`);
}

function readMerge(inputs: ActionInputs): boolean {
  const merge = inputs.has("merge") ? inputs.value("merge") : false;
  if (typeof merge === "boolean") return merge;
  throw invalidInput("merge", "must be true or false");
}

function objectOf(inputs: ActionInputs, key: string): object {
  const value = inputs.value(key);
  if (isJsonObject(value)) return value;
  throw invalidInput(key, "must be an object");
}
