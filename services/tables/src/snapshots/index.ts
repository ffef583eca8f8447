export { Snapshots } from "./snapshots.ts";
export { TableReader } from "./table-reader.ts";
export { createTableHeads } from "./table-heads.ts";
export type { TableHeads } from "./table-heads.ts";
