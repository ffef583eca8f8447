import type { RowSource } from "../engine/index.ts";

/** The rows of a table as they were at one revision. */
export interface TableSource extends RowSource {
  readonly revision: number;
  /** Where in the table the row of an index lies. */
  positionAt(index: number): number;
}
