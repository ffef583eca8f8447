export { openDatabase } from "./open-database.ts";
export type {
  Database,
  OpenDatabaseOptions,
  Queryable,
  SqlFragment,
  Transaction,
} from "./open-database.ts";
export { constraintOf, databaseErrorToAppError, sqlStateOf } from "./errors.ts";
export { examineDatabase, newestMigration } from "./examine-database.ts";
export type { DatabaseTrouble, NeededDatabase } from "./examine-database.ts";
export { listen } from "./listen.ts";
export type { ListenOptions, Listener } from "./listen.ts";
export { migrate } from "./migrate.ts";
export type {
  AppliedMigration,
  MigrateOptions,
  MigrationLogger,
  ServiceSchema,
} from "./migrate.ts";
export { dumpSchema } from "./dump-schema.ts";
export { readingThrough, runPlain } from "./remote-reading.ts";
export type { PlainRow, PlainStatement, Reading } from "./remote-reading.ts";
export { hexBytes } from "./hex-bytes.ts";
export { sql } from "slonik";
export { createCursorCodec } from "./cursor.ts";
export type { CursorCodec } from "./cursor.ts";
export {
  derivedId,
  firstIdAt,
  idTimestamp,
  isId,
  isUuid,
  newId,
  newUuid,
  uuidTimestamp,
} from "./ids.ts";
