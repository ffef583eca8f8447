export type { Figures } from "./figures.ts";
export { Snapshots } from "./snapshots.ts";
export { readPage } from "./read-page.ts";
export type { PlannedPage, RowPage } from "./read-page.ts";
export type { Outcome } from "./answer.ts";
export { TableReader } from "./table-reader.ts";
export type { Answered, Reader } from "./table-reader.ts";
export { createTableHeads } from "./table-heads.ts";
export type { TableHeads } from "./table-heads.ts";
