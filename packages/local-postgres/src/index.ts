export { findLocalPostgres } from "./find.ts";
export { startLocalPostgres } from "./start.ts";
export type { LocalPostgres, LocalPostgresOptions } from "./start.ts";
export { tryLockFile } from "./file-lock.ts";
export type { FileLock } from "./file-lock.ts";
export { hasPostgresBinaries } from "./binaries.ts";
