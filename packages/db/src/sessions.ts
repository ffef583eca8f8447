import type { DatabasePool, DatabasePoolConnection } from "slonik";

/** The connections of a pool, kept open between uses. */
export interface Sessions {
  /**
   * Runs a routine on the most recently used idle connection, else on a new one. Rejects at once
   * when the connection breaks.
   */
  use<T>(routine: (connection: DatabasePoolConnection) => Promise<T>): Promise<T>;
  /** The number of idle connections. */
  idle(): number;
  /** Closes the idle connections now and the others after their use. Resolves when none is idle. */
  close(): Promise<void>;
}

/** The interval at which connections unused since the last time go back to the pool. */
const SWEEP_MS = 5_000;
/** Older connections go back too, since the pool renews its connections by age. */
const SESSION_MS_MAX = 60_000;

/**
 * Sessions over a slonik pool. By itself the pool uses its idle connections in turn and wraps one
 * for each query. Every connection then has to plan every statement, and a prepared select took 1.4
 * times the processor time. Here few connections are busy while there is little to do, and the rest
 * end.
 *
 * @param isUsableAfter whether a connection may be used again after a routine failed with this
 * error
 */
export function createSessions(
  pool: Pick<DatabasePool, "connect">,
  isUsableAfter: (error: unknown) => boolean,
): Sessions {
  let idle: Session[] = [];
  let isClosed = false;
  const held = new Set<Promise<void>>();

  const open = (): Promise<Session> => {
    const { opened, over } = openSession(pool, (broken) => {
      idle = idle.filter((session) => session !== broken);
    });
    const leaving = over.finally(() => held.delete(leaving));
    held.add(leaving);
    return opened;
  };

  const putBack = (session: Session): void => {
    session.isUsed = true;
    if (isClosed) session.giveBack();
    else if (!session.isBroken) idle.push(session);
  };

  const sweep = (): void => {
    const oldest = performance.now() - SESSION_MS_MAX;
    const isKept = ({ isUsed, openedAt }: Session): boolean => isUsed && openedAt > oldest;
    for (const session of idle) if (!isKept(session)) session.giveBack();
    idle = idle.filter(isKept);
    for (const session of idle) session.isUsed = false;
  };
  const sweeping = setInterval(sweep, SWEEP_MS).unref();

  return {
    async use(routine) {
      const session = idle.pop() ?? (await open());
      try {
        const value = await session.run(routine);
        putBack(session);
        return value;
      } catch (error) {
        if (isUsableAfter(error)) putBack(session);
        else session.discard(error);
        throw error;
      }
    },
    idle: () => idle.length,
    async close() {
      isClosed = true;
      clearInterval(sweeping);
      const leaving = [...held];
      const areAllIdle = leaving.length === idle.length;
      for (const session of idle) session.giveBack();
      idle = [];
      if (areAllIdle) await Promise.all(leaving);
    },
  };
}

/**
 * Takes a connection out of the pool.
 *
 * @param onBroken called with a session that ends in any other way than by `giveBack`
 * @returns the session, and a promise that resolves once the pool has its connection back
 */
function openSession(
  pool: Pick<DatabasePool, "connect">,
  onBroken: (session: Session) => void,
): { opened: Promise<Session>; over: Promise<void> } {
  const { promise: opened, resolve, reject } = Promise.withResolvers<Session>();
  let session: Session | undefined;
  const over = pool
    .connect((connection) => {
      session = new Session(connection);
      resolve(session);
      return session.over;
    })
    .catch((error: unknown) => {
      reject(error);
      if (session === undefined) return;
      session.fail(error);
      onBroken(session);
    });
  return { opened, over };
}

/** A connection outside of the pool. */
class Session {
  readonly connection: DatabasePoolConnection;
  readonly openedAt = performance.now();
  /** Settles when the connection goes back: resolved for reuse, rejected to be closed. */
  readonly over: Promise<void>;
  readonly giveBack: () => void;
  readonly discard: (error: unknown) => void;
  isUsed = true;
  isBroken = false;
  #onFailure: ((error: unknown) => void) | undefined;

  constructor(connection: DatabasePoolConnection) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.connection = connection;
    this.over = promise;
    this.giveBack = resolve;
    this.discard = reject;
  }

  run<T>(routine: (connection: DatabasePoolConnection) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#onFailure = reject;
      routine(this.connection).then(resolve, reject);
    });
  }

  /** The pool has lost the connection; without this its routine would never end. */
  fail(error: unknown): void {
    this.isBroken = true;
    this.discard(error);
    this.#onFailure?.(error);
  }
}
