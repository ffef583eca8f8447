export type { Question } from "./question.ts";
export { Snapshots } from "./snapshots.ts";
export { createTableHeads } from "./table-heads.ts";
export type { TableHeads } from "./table-heads.ts";
