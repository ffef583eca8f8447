import { isNativeError } from "node:util/types";
import type {
  CommonQueryMethods,
  DatabasePool,
  DatabaseTransactionConnection,
  DriverTypeParser,
  FragmentSqlToken,
} from "slonik";
import { ConnectionError, createPool, InvalidConfigurationError } from "slonik";
import { createAnsweredDriver } from "./answered-driver.ts";
import { withSession } from "./connection-uri.ts";
import { databaseErrorToAppError, inputRejectionRecorder, sqlStateOf } from "./errors.ts";
import { createRoomRecorder } from "./lost-room.ts";
import { keepConnections } from "./keep-connections.ts";
import { resultParser } from "./result-parser.ts";

/** A pool of connections; queries outside of a transaction may use different ones. */
export type Database = DatabasePool;
/** One connection inside a transaction. */
export type Transaction = DatabaseTransactionConnection;
/** A piece of SQL with its values, for use in a query. */
export type SqlFragment = FragmentSqlToken;
/** Anything that can run a query: a database or a transaction. */
export type Queryable = CommonQueryMethods;

export interface OpenDatabaseOptions {
  /** `postgresql://user:password@host:port/database`, with `sslmode` when needed. */
  connectionUri: string;
  /** The database role of the connections; the login has to be a member of it. */
  role?: string;
  /** Default 10. */
  maxConnections?: number;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** The server cancels a statement that takes longer. Default 30 000. */
  statementTimeoutMs?: number;
  /**
   * The server ends a session whose transaction is idle for longer, so that a frozen process
   * releases its locks. Default 10 000.
   */
  idleInTransactionTimeoutMs?: number;
  /**
   * Plans a statement once, not for the values of each execution. Statements over partitions take
   * longer to plan than to execute, and a generic plan skips partitions by itself.
   */
  genericPlans?: boolean;
  /**
   * A commit is confirmed when it is in the log on disk, whatever the server's default. Needed by
   * readers who remember confirmed state and could not notice that a crash has lost it.
   */
  durableCommits?: boolean;
  /** Receives errors that belong to no query, such as an idle connection that broke. */
  onError?: (error: Error) => void;
}

/**
 * For a Postgres that does not answer; one that is down refuses at once. On an overloaded machine a
 * new connection has taken more than 4 s. A query waits for a connection of the pool for 10 s.
 */
const CONNECT_TIMEOUT_MS = 8_000;
/** Time for the network, and for a server that is too busy to cancel a statement in time. */
const ANSWER_MARGIN_MS = 5_000;
const IDLE_TIMEOUT_MS = 60_000;
/**
 * The number of times that a transaction may be repeated; so it has no effects outside of the
 * database.
 */
const RETRIES = 3;

/**
 * Opens a pool, which survives restarts of Postgres. Meanwhile queries fail within seconds, or
 * shortly after the statement timeout where Postgres disappeared silently. End it with
 * `database.end()`.
 *
 * @throws AppError UNAVAILABLE when Postgres cannot be reached now
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const { role, applicationName, maxConnections = 10, statementTimeoutMs = 30_000 } = options;
  const { idleInTransactionTimeoutMs = 10_000, genericPlans = false } = options;
  const { durableCommits = false } = options;
  const session = { applicationName, role, genericPlans, durableCommits };
  const uri = withSession(options.connectionUri, session);
  try {
    const pool = await createPool(uri, {
      maxPoolSize: maxConnections,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      connectionRetryLimit: 0,
      idleTimeout: IDLE_TIMEOUT_MS,
      statementTimeout: statementTimeoutMs,
      driverFactory: createAnsweredDriver(statementTimeoutMs + ANSWER_MARGIN_MS),
      idleInTransactionSessionTimeout: idleInTransactionTimeoutMs,
      transactionRetryLimit: RETRIES,
      queryRetryLimit: RETRIES,
      captureStackTrace: false,
      // The default, `discard all`, costs a round trip for each query and drops the prepared
      // statements, which halves the rate. Nothing here changes the state of a session.
      resetConnection: async () => {},
      typeParsers,
      interceptors: [
        inputRejectionRecorder,
        createRoomRecorder(options.connectionUri),
        resultParser,
      ],
    });
    pool.on("error", (error) => options.onError?.(error));
    return keepConnections(pool, maxConnections);
  } catch (error) {
    throw databaseErrorToAppError(isWithoutAnswer(error) ? asConnectionError(error) : error);
  }
}

/** pg's own timeout error has neither a code nor a class, and slonik wraps it only in queries. */
function isWithoutAnswer(error: unknown): error is Error {
  if (!isNativeError(error) || error instanceof InvalidConfigurationError) return false;
  return sqlStateOf(error) === null;
}

function asConnectionError(cause: Error): ConnectionError {
  return new ConnectionError(cause.message, { cause });
}

/** The differences from pg's own parsers, which leave int8 a string and make dates local. */
const typeParsers: DriverTypeParser[] = [
  { name: "int8", parse: parseInt8 },
  { name: "date", parse: (text) => text },
];

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error("An int8 value is beyond 2^53.");
  return value;
}
