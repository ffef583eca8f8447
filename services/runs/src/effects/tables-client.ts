import { isAppError } from "@workflow/errors";
import type { AppError } from "@workflow/errors";
import { RowsServiceService, SortOrder } from "@workflow/proto/tables/v1/rows";
import type { Row, WriteOrigin } from "@workflow/proto/tables/v1/rows";
import { createRpcClient, createTokenMinter, LARGE_MESSAGE_BYTES_MAX } from "@workflow/rpc";
import type { RpcCallOptions, RpcTls, TokenSigner } from "@workflow/rpc";
import type { Tracer } from "@workflow/tracing";
import { boundedKey } from "../domain/bounded-key.ts";
import { outputTooLarge, STEP_OUTPUT_CHARS_MAX } from "../domain/output-limit.ts";
import { StepError } from "../domain/step-error.ts";
import type { TableRow, TablesCaller, TablesClient } from "../interpreter/effects/tables-client.ts";
import { callWithRetries } from "./call-with-retries.ts";
import { causeOptions } from "./cause-options.ts";

/** The address of the tables service, and the identity for calls to it. */
export interface TablesClientOptions {
  address: string;
  tokenSigner: TokenSigner;
  tls?: RpcTls | undefined;
  tracer?: Tracer | undefined;
}

const TIMEOUT_MS = 15_000;
/**
 * The pauses before a call is repeated because the service could not be reached. Writes can be repeated
 * since each has a key.
 */
const PAUSES_MS = [100, 400, 1_500, 3_000];

/** Connects on first use. The service need not be running yet. */
export function createTablesClient(options: TablesClientOptions): TablesClient {
  const client = createRpcClient(RowsServiceService, {
    address: options.address,
    tls: options.tls,
    tracer: options.tracer,
    minter: createTokenMinter(options.tokenSigner, { audience: "tables" }),
    defaultTimeoutMs: TIMEOUT_MS,
    // A page that is too large for a step is still read, so that the step fails with that reason for
    // good.
    maxMessageBytes: LARGE_MESSAGE_BYTES_MAX,
    // The replica that holds the table's columns, whoever asks (ADR 75).
    affinity: { queryRows: ({ tableId }) => tableId },
  });
  return {
    async query(caller, { tableId, filter = "", sort = "", order, limit, offset = 0 }, signal) {
      const request = {
        tableId,
        filterJson: filter,
        sort,
        order: order === "desc" ? SortOrder.DESC : SortOrder.ASC,
        limit,
        offset,
        legacyFilter: false,
      };
      const found = await callOrFail(
        (call) => client.queryRows(request, call),
        caller,
        signal,
        noSuchTable,
      );
      const chars = found.rows.reduce((sum, { dataJson }) => sum + dataJson.length, 0);
      if (chars > STEP_OUTPUT_CHARS_MAX) throw outputTooLarge();
      return { rows: found.rows.map(toTableRow), total: found.total, hasMore: found.hasMore };
    },
    async insert(caller, { tableId, data }, key, signal) {
      const request = { tableId, dataJson: data, origin: originOf(caller, key) };
      return toTableRow(
        await callOrFail((call) => client.insertRow(request, call), caller, signal, noSuchTable),
      );
    },
    async update(caller, { tableId, rowId, data, merge }, key, signal) {
      const request = { tableId, rowId, dataJson: data, merge, origin: originOf(caller, key) };
      return toTableRow(
        await callOrFail((call) => client.updateRow(request, call), caller, signal, noSuchRow),
      );
    },
    async delete(caller, { tableId, rowId }, key, signal) {
      const request = { tableId, rowId, origin: originOf(caller, key) };
      await callOrFail((call) => client.deleteRow(request, call), caller, signal, noSuchRow);
    },
    close: () => client.close(),
  };
}

function originOf({ runId }: TablesCaller, key: string): WriteOrigin {
  return { runId, idempotencyKey: boundedKey(key) };
}

/** The failure of a call about something that does not exist. */
type NotFound = (message: string) => StepError;

function noSuchTable(message: string): StepError {
  return new StepError("TABLE_NOT_FOUND", message, { retryable: false, answered: true });
}

/** The table may be missing as well: it makes no difference to the step. */
function noSuchRow(message: string): StepError {
  return new StepError("ROW_NOT_FOUND", message, { retryable: false, answered: true });
}

async function callOrFail<Answer>(
  send: (call: RpcCallOptions) => Promise<Answer>,
  caller: TablesCaller,
  signal: AbortSignal,
  notFound: NotFound,
): Promise<Answer> {
  try {
    return await callWithRetries(() => send(callOptions(caller, signal)), PAUSES_MS, signal);
  } catch (error) {
    throw isAppError(error) && !signal.aborted ? toStepError(error, notFound) : error;
  }
}

/** The service acts in its own name, for the run's company. */
function callOptions(caller: TablesCaller, signal: AbortSignal): RpcCallOptions {
  const { companyId } = caller;
  return {
    identity: {
      companyId,
      principal: { type: "service", id: "runs" },
      scopes: ["workflows:read", "workflows:write"],
    },
    ...causeOptions(caller),
    signal,
  };
}

function toTableRow({ id, dataJson, position, createdAt, updatedAt }: Row): TableRow {
  return {
    id,
    data: JSON.parse(dataJson),
    position: position ?? null,
    createdAt: createdAt?.toISOString() ?? null,
    updatedAt: updatedAt?.toISOString() ?? null,
  };
}

/** The step's failure for a failed call. Our own faults stay as they are. */
function toStepError(error: AppError, notFound: NotFound): AppError | StepError {
  const { message, reason, retryAfterMs, violations } = error;
  switch (reason) {
    case "NOT_FOUND":
      return notFound(message);
    case "BAD_REQUEST":
    case "PAYLOAD_TOO_LARGE":
      return new StepError("TABLE_REJECTED", message, {
        retryable: false,
        answered: true,
        ...(violations.length === 0 ? {} : { details: { problems: violations } }),
      });
    case "RATE_LIMITED":
    case "UNAVAILABLE":
      // The error is not marked `answered`: nobody knows whether the row was written. The next attempt has
      // the same key.
      return new StepError(
        "TABLE_UNAVAILABLE",
        message,
        retryAfterMs === undefined ? {} : { retryAfterMs },
      );
    default:
      return error;
  }
}
