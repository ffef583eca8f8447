import { invalidRequest } from "@workflow/errors";
import type {
  InsertRowRequest,
  InsertRowsRequest,
  InsertRowsResponse,
  InsertRowsResult,
} from "@workflow/proto/tables/v1/rows";
import { databaseErrorToAppError } from "@workflow/db";
import { rpc, toItemFailure } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { parseRowData } from "../domain/row-data.ts";
import { toRowMessage } from "./row-message.ts";
import { requireTableName } from "./table-name.ts";
import { writeCauseOf } from "./write-cause.ts";

const REQUESTS_MAX = 200;

/** Adds rows for several requests, each accepted or refused on its own. */
export function insertRows(
  context: ServiceContext,
): UnaryMethod<InsertRowsRequest, InsertRowsResponse> {
  return rpc({
    scopes: "workflows:write",
    async handler({ requests }, call) {
      if (requests.length < 1 || requests.length > REQUESTS_MAX) {
        const message = `must have 1 to ${REQUESTS_MAX} requests`;
        throw invalidRequest([{ path: ["requests"], message }]);
      }
      const results = requests.map((request) => insertOne(context, request, call));
      return { results: await Promise.all(results) };
    },
  });
}

async function insertOne(
  { rowWriter, logger }: ServiceContext,
  { tableId, dataJson }: InsertRowRequest,
  call: RpcContext,
): Promise<InsertRowsResult> {
  try {
    const data = parseRowData(dataJson);
    const table = requireTableName(tableId, call);
    const row = await rowWriter.insert(table, data, writeCauseOf(call), call);
    return { row: toRowMessage(row), failure: undefined };
  } catch (error) {
    const failure = databaseErrorToAppError(error);
    if (failure.reason === "INTERNAL_ERROR") {
      logger.error({ err: error, requestId: call.requestId }, "a row could not be added");
    }
    return { row: undefined, failure: toItemFailure(failure) };
  }
}
