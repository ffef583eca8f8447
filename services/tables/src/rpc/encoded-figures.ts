import { RowsServiceService } from "@workflow/proto/tables/v1/rows";
import type { AggregateRowsResponse } from "@workflow/proto/tables/v1/rows";

/** An answer that is encoded already. Its fields are therefore empty. */
export class EncodedFigures implements AggregateRowsResponse {
  readonly groups = [];
  readonly encoded: Uint8Array;

  constructor(encoded: Uint8Array) {
    this.encoded = encoded;
  }
}

const { aggregateRows } = RowsServiceService;

/** The rows service, which sends encoded figures as they are. */
export const ENCODED_ROWS_SERVICE = {
  ...RowsServiceService,
  aggregateRows: {
    ...aggregateRows,
    responseSerialize: (value: AggregateRowsResponse): Buffer =>
      value instanceof EncodedFigures
        ? bufferOf(value.encoded)
        : aggregateRows.responseSerialize(value),
  },
};

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
