import { StepError } from "../domain/step-error.ts";
import type { TablesClient } from "../interpreter/effects/tables-client.ts";

/** The client where no service keeps tables. */
export const NO_TABLES: TablesClient = {
  query: refuse,
  insert: refuse,
  update: refuse,
  delete: refuse,
  close() {},
};

function refuse(): never {
  const message = "No service keeps tables in this installation.";
  throw new StepError("NOT_CONFIGURED", message, { retryable: false });
}
