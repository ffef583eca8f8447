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
import { keepConnections } from "./keep-connections.ts";
import { resultParser } from "./result-parser.ts";

/** A pool of connections; each query outside a transaction may use another one. */
export type Database = DatabasePool;
/** One connection inside a transaction. */
export type Transaction = DatabaseTransactionConnection;
/** A piece of SQL with its values, to be put into a query. */
export type SqlFragment = FragmentSqlToken;
/** Whatever can run a query: a database or a transaction. */
export type Queryable = CommonQueryMethods;

export interface OpenDatabaseOptions {
  /** `postgresql://user:password@host:port/database`, with `sslmode` when needed. */
  connectionUri: string;
  /** The database role that the connections act as; the login user must be a member of it. */
  role?: string;
  /** Default 10. */
  maxConnections?: number;
  /** Shown in `pg_stat_activity`. */
  applicationName: string;
  /** The server ends a statement that takes longer. Default 30 000. */
  statementTimeoutMs?: number;
  /**
   * The server ends a session that leaves a transaction open and silent for longer, so that a process
   * which is frozen in the middle of one gives its locks back. Default 10 000.
   */
  idleInTransactionTimeoutMs?: number;
  /**
   * Plans a statement once and not for the values of each execution: for statements over partitions, which
   * take longer to plan than to execute, and whose plans skip partitions by themselves.
   */
  genericPlans?: boolean;
  /**
   * A commit is confirmed when it is in the log on disk, whatever the server's default: for who remembers
   * what was confirmed, and could not notice that a crash has lost it.
   */
  durableCommits?: boolean;
  /** Hears of errors that belong to no query, such as an idle connection that broke. */
  onError?: (error: Error) => void;
}

/**
 * A Postgres that is down refuses at once; this is for one that does not answer. Long enough for one
 * that is only busy: on an overloaded machine a new connection has taken more than 4 s. Who waits for one of the
 * pool waits for 10 s.
 */
const CONNECT_TIMEOUT_MS = 8_000;
/** On the way, and for a server that is too busy to end a statement in time. */
const ANSWER_MARGIN_MS = 5_000;
const IDLE_TIMEOUT_MS = 60_000;
/** Transactions may run this many times more; hence no outside effects inside one. */
const RETRIES = 3;

/**
 * Opens a pool. It gets over a restart of Postgres by itself; queries fail within seconds
 * meanwhile, and shortly after the statement timeout where Postgres is gone without a word. End it with `database.end()`.
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
      // The default, `discard all`, costs a round trip a query and drops the prepared statements:
      // half the rate. Nothing here changes the state of a session.
      resetConnection: async () => {},
      typeParsers,
      interceptors: [inputRejectionRecorder, resultParser],
    });
    pool.on("error", (error) => options.onError?.(error));
    return keepConnections(pool, maxConnections);
  } catch (error) {
    throw databaseErrorToAppError(isWithoutAnswer(error) ? asConnectionError(error) : error);
  }
}

/** pg's own time-out has neither a code nor a class, and slonik wraps it only later, in queries. */
function isWithoutAnswer(error: unknown): error is Error {
  if (!isNativeError(error) || error instanceof InvalidConfigurationError) return false;
  return sqlStateOf(error) === null;
}

function asConnectionError(cause: Error): ConnectionError {
  return new ConnectionError(cause.message, { cause });
}

/** What differs from pg's own parsers, which leave int8 a string and make dates local. */
const typeParsers: DriverTypeParser[] = [
  { name: "int8", parse: parseInt8 },
  { name: "date", parse: (text) => text },
];

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error("An int8 value is beyond 2^53.");
  return value;
}
