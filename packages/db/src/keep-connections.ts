import { Semaphore } from "@workflow/async";
import { AppError, isAppError } from "@workflow/errors";
import type { DatabasePool, DatabasePoolConnection } from "slonik";
import {
  ConnectionError,
  DataIntegrityError,
  IntegrityConstraintViolationError,
  InvalidInputError,
} from "slonik";
import { RETRY_AFTER_MS, sqlStateOf } from "./errors.ts";
import { RowMismatchError } from "./result-parser.ts";
import { createSessions } from "./sessions.ts";

/** The time that a query waits for a connection while all are busy. */
const ACQUIRE_TIMEOUT_MS = 10_000;

/** Classes of SQLSTATE after which a session is usable again, once its transaction has ended. */
const HARMLESS_CLASSES = new Set(["22", "23", "40", "42", "P0"]);

/**
 * Corrects three habits of slonik's pool. (1) It closes the connection on any error, even a
 * NOT_FOUND thrown inside a transaction or a violated constraint, and a new connection costs a
 * process and a SCRAM handshake. Here only errors about the connection close it (2 cores: 3,800
 * instead of 210 transactions a second that end with a CONFLICT). (2) Its queue has no time limit,
 * and is forgotten when other attempts to connect fail. Here a queue in front of it has a time
 * limit, and ends when Postgres cannot be reached. (3) It uses all connections in turn, and wraps
 * one for each query, see `createSessions`.
 */
export function keepConnections(pool: DatabasePool, maxConnections: number): DatabasePool {
  const connections = new Semaphore(maxConnections);
  const limit = { timeoutMs: ACQUIRE_TIMEOUT_MS, timeoutError: poolExhausted };
  const sessions = createSessions(pool, leavesConnectionUsable);

  const use = async <T>(routine: (connection: DatabasePoolConnection) => Promise<T>) => {
    const release = await connections.acquire(limit);
    try {
      return await sessions.use(routine);
    } catch (error) {
      if (error instanceof ConnectionError && !hasConnections(pool)) {
        connections.rejectWaiting(error);
      }
      throw error;
    } finally {
      release();
    }
  };

  const methods: Omit<DatabasePool, keyof NodeJS.EventEmitter> = {
    any: (query, values) => use((connection) => connection.any(query, values)),
    anyFirst: (query, values) => use((connection) => connection.anyFirst(query, values)),
    exists: (query, values) => use((connection) => connection.exists(query, values)),
    many: (query, values) => use((connection) => connection.many(query, values)),
    manyFirst: (query, values) => use((connection) => connection.manyFirst(query, values)),
    maybeOne: (query, values) => use((connection) => connection.maybeOne(query, values)),
    maybeOneFirst: (query, values) => use((connection) => connection.maybeOneFirst(query, values)),
    one: (query, values) => use((connection) => connection.one(query, values)),
    oneFirst: (query, values) => use((connection) => connection.oneFirst(query, values)),
    query: (query, values) => use((connection) => connection.query(query, values)),
    record: (query, values) => use((connection) => connection.record(query, values)),
    stream: (query, handler) => use((connection) => connection.stream(query, handler)),
    transaction: (handler, retries) =>
      use((connection) => connection.transaction(handler, retries)),
    connect: use,
    configuration: pool.configuration,
    async end() {
      await sessions.close();
      await pool.end();
    },
    state: () => stateOf(pool, sessions.idle(), connections.waiting),
  };
  const database: DatabasePool = Object.create(pool);
  return Object.assign(database, methods);
}

/** A connection that a session keeps is acquired for the pool, and idle for everybody else. */
function stateOf(pool: DatabasePool, idleSessions: number, waitingClients: number) {
  const { acquiredConnections, idleConnections, ...rest } = pool.state();
  return {
    ...rest,
    acquiredConnections: acquiredConnections - idleSessions,
    idleConnections: idleConnections + idleSessions,
    waitingClients,
  };
}

function leavesConnectionUsable(error: unknown): boolean {
  if (isAppError(error)) {
    // A store may have mapped the error of a lost connection already; its cause still tells.
    return error.cause === undefined || leavesConnectionUsable(error.cause);
  }
  if (
    error instanceof IntegrityConstraintViolationError ||
    error instanceof InvalidInputError ||
    error instanceof DataIntegrityError ||
    error instanceof RowMismatchError
  ) {
    return true;
  }
  const sqlState = sqlStateOf(error);
  return sqlState !== null && HARMLESS_CLASSES.has(sqlState.slice(0, 2));
}

function hasConnections(pool: DatabasePool): boolean {
  const { acquiredConnections, idleConnections } = pool.state();
  return acquiredConnections + idleConnections > 0;
}

function poolExhausted(): AppError {
  return new AppError("UNAVAILABLE", "The service is temporarily unavailable.", {
    internal: `No database connection became free within ${ACQUIRE_TIMEOUT_MS} ms.`,
    retryAfterMs: RETRY_AFTER_MS,
  });
}
