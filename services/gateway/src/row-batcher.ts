import type { InsertRowRequest, Row, RowsServiceService } from "@workflow/proto/tables/v1/rows";
import { fromItemFailure } from "@workflow/rpc";
import type { RpcCallOptions, RpcClient } from "@workflow/rpc";
import { createTurnBatcher } from "./turn-batcher.ts";

/** Adds single rows; rows that arrive together share one call. */
export interface RowBatcher {
  /** @throws AppError the error of the tables service for this row alone */
  insert(request: InsertRowRequest, call: RpcCallOptions): Promise<Row>;
}

/** Creates a batcher that adds rows through `rows`. */
export function createRowBatcher(rows: RpcClient<RowsServiceService>): RowBatcher {
  const insert = createTurnBatcher<InsertRowRequest, Row>({
    itemsMax: 200,
    // Rows may have 1 MiB each; this limit keeps a call far below the size of a message.
    charsMax: 4 * 1024 * 1024,
    charsOf: ({ dataJson }) => dataJson.length,
    // The tables service serializes the writers of one table, so a second call would only wait there.
    partitionKey: ({ tableId }) => tableId,
    concurrencyMax: 2,
    sendOne: (request, call) => rows.insertRow(request, call),
    async *sendMany(items, call) {
      const { results } = await rows.insertRows(
        { requests: items.map(({ request }) => request) },
        call,
      );
      for (const [index, { row, failure }] of results.entries()) {
        yield { index, result: row ?? fromItemFailure(failure) };
      }
    },
  });
  return { insert };
}
