export type { WriteCause } from "./row-events.ts";
export { RowWriter } from "./row-writer.ts";
export { tooManyBytes } from "./table-room.ts";
