export { findLocalPostgres } from "./find.ts";
export { startLocalPostgres } from "./start.ts";
export type { LocalPostgres, LocalPostgresOptions, ServerExit } from "./start.ts";
export { hasPostgresBinaries } from "./binaries.ts";
