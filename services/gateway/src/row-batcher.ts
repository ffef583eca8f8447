import type { InsertRowRequest, Row, RowsServiceService } from "@workflow/proto/tables/v1/rows";
import { fromItemFailure } from "@workflow/rpc";
import type { RpcCallOptions, RpcClient } from "@workflow/rpc";
import { createTurnBatcher } from "./turn-batcher.ts";

/** Adds single rows, those that arrive together in one call. */
export interface RowBatcher {
  /** @throws AppError what the tables service says, as if it had been called for this row alone */
  insert(request: InsertRowRequest, call: RpcCallOptions): Promise<Row>;
}

/** Adds rows through `rows`, several at a time when they come together. */
export function createRowBatcher(rows: RpcClient<RowsServiceService>): RowBatcher {
  const insert = createTurnBatcher<InsertRowRequest, Row>({
    itemsMax: 200,
    // Far below what a message may have; rows may have 1 MiB each.
    charsMax: 4 * 1024 * 1024,
    charsOf: ({ dataJson }) => dataJson.length,
    // Writers of one table take turns; a second call keeps the service from waiting for this one.
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
