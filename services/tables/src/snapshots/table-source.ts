import type { RowSource } from "../engine/index.ts";

/** The rows of a table as they were at one revision. */
export interface TableSource extends RowSource {
  readonly revision: number;
  /** The position in the table of the row at an index. */
  positionAt(index: number): number;
}
