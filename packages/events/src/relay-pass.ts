import type { BackoffLimits } from "@workflow/async";
import { AsyncLocalStorage } from "node:async_hooks";
import type { Transaction } from "@workflow/db";
import { createDeferrals } from "./deferrals.ts";
import type { Deferrals } from "./deferrals.ts";
import type { PublishFailure } from "./event-bus.ts";
import { PublishError } from "./event-bus.ts";
import type { UnpublishedEvent } from "./relay-queries.ts";
import { deletePublished, listUnpublished, setAside, tryLockOutbox } from "./relay-queries.ts";
import type { OutboxRelayOptions } from "./relay-options.ts";

/**
 * `busy`: another relay works on this outbox. `idle`: nothing to publish now. `progress`: more may be
 * there. `unavailable`: the database or the bus is away.
 */
export type PassResult = "busy" | "idle" | "progress" | "unavailable";

export interface RelayPass {
  /** Publishes one batch and deletes it. Never rejects. */
  run(): Promise<PassResult>;
  /** Time until a deferred event is due again, or null when there is none. */
  nextDueInMs(): number | null;
}

/** `pauses` are those of events that fail by themselves. */
type PassOptions = OutboxRelayOptions & { pauses: BackoffLimits };

/** So many deferred events mean a fault of the bus or of a consumer as a whole. */
const DEFERRED_MAX = 1_000;

/**
 * The batch is published inside the transaction that locks the outbox. While the bus works that
 * transaction has neither a snapshot nor a transaction id nor a row lock, only the advisory lock. So
 * only other relays wait for it, and vacuum goes on. The alternative, a column `claimed_until`, would
 * write each row once more and leave a dead relay's events to their lease.
 */
export function createRelayPass(options: PassOptions): RelayPass {
  const { database, schema, stream, logger, batchSize = 500, publishTimeoutMs = 10_000 } = options;
  // slonik refuses all other queries in the asynchronous context of a transaction, and the handlers of
  // the in-process bus make theirs. So publishing happens in the context of this moment.
  const outsideTransaction = AsyncLocalStorage.snapshot();
  const deferrals = createDeferrals(options.pauses);
  const handleFailures = createFailureHandling(options, deferrals);

  const publishBatch = async (tx: Transaction): Promise<PassResult> => {
    // Locked first and read after: what the former holder deleted is then gone.
    const idleTimeoutMs = publishTimeoutMs * 2 + 5_000;
    if (!(await tryLockOutbox(tx, schema, `publish ${stream}`, idleTimeoutMs))) return "busy";
    const waiting = deferrals.waiting();
    const events = await listUnpublished(tx, { schema, stream }, batchSize, waiting);
    if (events.length < batchSize) deferrals.dropDueExcept(new Set(events.map(({ seq }) => seq)));
    if (events.length === 0) return "idle";

    const failures = await outsideTransaction(() => publish(options, events));
    const published = events.filter(({ id }) => !failures.has(id)).map(({ seq }) => seq);
    for (const seq of published) deferrals.forget(seq);
    if (published.length > 0) await deletePublished(tx, { schema, stream }, published);
    return handleFailures(tx, events, failures);
  };

  return {
    nextDueInMs: () => deferrals.nextDueInMs(),
    async run() {
      try {
        // The transaction is not repeated by itself: a batch is published twice only when there is no
        // other way.
        return await database.transaction(publishBatch, 0);
      } catch (err) {
        logger.warn({ schema, stream, err }, "the outbox could not be published");
        return "unavailable";
      }
    },
  };
}

type FailureHandling = (
  tx: Transaction,
  events: readonly UnpublishedEvent[],
  failures: ReadonlyMap<string, PublishFailure>,
) => Promise<PassResult>;

/**
 * Makes the function that logs the failures of a published batch, sets refused events aside, defers
 * those that failed by themselves, and returns the result of the pass.
 */
function createFailureHandling(
  { schema, stream, logger }: PassOptions,
  deferrals: Deferrals,
): FailureHandling {
  return async (tx, events, failures) => {
    const refused: number[] = [];
    let result: PassResult = "progress";
    for (const { seq, id, type, body } of events) {
      const failure = failures.get(id);
      if (failure === undefined) continue;
      const fields = { schema, stream, eventId: id, type, err: failure.cause };
      if (failure.kind === "refused") {
        refused.push(seq);
        deferrals.forget(seq);
        const bytes = Buffer.byteLength(body);
        logger.error({ ...fields, bytes }, "the bus refuses an event; it is set aside");
      } else if (failure.kind === "failed") {
        const attempts = deferrals.defer(seq);
        logger.warn({ ...fields, attempts }, "an event was not published; it will be tried again");
      } else {
        if (result !== "unavailable") logger.warn(fields, "the bus takes no events at the moment");
        result = "unavailable";
      }
    }
    if (refused.length > 0) await setAside(tx, { schema, stream }, refused);
    return deferrals.waiting().length > DEFERRED_MAX ? "unavailable" : result;
  };
}

/** Publishes, and returns what failed by event id. */
async function publish(
  options: PassOptions,
  rows: readonly UnpublishedEvent[],
): Promise<Map<string, PublishFailure>> {
  const { bus, stream, publishTimeoutMs = 10_000 } = options;
  const events = rows.map(({ id, type, body }) => ({ id, stream, type, body }));
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`not taken within ${publishTimeoutMs} ms`)),
    publishTimeoutMs,
  );
  try {
    await Promise.race([bus.publish(events), late]);
    return new Map();
  } catch (error) {
    const failures = error instanceof PublishError ? error.failures : allUnavailable(rows, error);
    return new Map(failures.map((failure) => [failure.id, failure]));
  } finally {
    clearTimeout(timer);
  }
}

/** An error that names no events means that none is known to be durable. */
function allUnavailable(rows: readonly UnpublishedEvent[], cause: unknown): PublishFailure[] {
  return rows.map(({ id }) => ({ id, kind: "unavailable", cause }));
}
