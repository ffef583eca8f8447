import { loop } from "@workflow/async";
import { gaugeIn } from "@workflow/service";
import type { Gauge, Registry } from "prom-client";
import type { DeadLetterOptions } from "./dead-letter-options.ts";
import type { ClaimedLetter } from "./dead-letter-queries.ts";
import {
  claimRedrive,
  countLetters,
  deleteFailures,
  pruneLetters,
  returnLetter,
} from "./dead-letter-queries.ts";

import { parseEnvelope } from "./envelope.ts";
import type { SubscribeOptions } from "./event-bus.ts";
import { decodeBody } from "./nats-body.ts";

type TendOptions = DeadLetterOptions & { pollEveryMs: number };

/** How long a letter is left to the process that handles it, or while other services are away. */
const LEASE_MS = 60_000;
const KEEP = { days: 90, rows: 100_000, limit: 1_000 };
const PRUNE_EVERY_MS = 60 * 60 * 1_000;
const MEASURE_EVERY_MS = 30_000;
/** Most letters that are counted: more are no better. */
const COUNT_MAX = 10_000;

/** @see DeadLetters.tend */
export async function tendLetters(
  options: TendOptions,
  subscription: SubscribeOptions,
  describeFailure: (error: unknown) => string | null,
  signal: AbortSignal,
): Promise<void> {
  const { schema, logger, pollEveryMs, metricsRegistry } = options;
  const gauge = metricsRegistry && letterGauge(metricsRegistry);
  const { stream, consumer } = subscription;
  const repeat = (task: string, intervalMs: number, run: () => Promise<void>): Promise<void> => {
    const name = `${task}-dead-letters ${schema} ${stream} ${consumer}`;
    return loop({ name, signal, intervalMs, logger, run }).done;
  };
  await Promise.all([
    repeat("redrive", pollEveryMs, () =>
      redriveAll(options, subscription, describeFailure, signal),
    ),
    repeat("prune", PRUNE_EVERY_MS, () => prune(options, signal)),
    gauge && repeat("measure", MEASURE_EVERY_MS, () => measure(options, subscription, gauge)),
  ]);
}

/** Handles one after the other: nothing is urgent, and new events go first. */
async function redriveAll(
  options: TendOptions,
  subscription: SubscribeOptions,
  describeFailure: (error: unknown) => string | null,
  signal: AbortSignal,
): Promise<void> {
  const { database, schema, logger } = options;
  const { stream, consumer, handler } = subscription;
  while (!signal.aborted) {
    const letter = await claimRedrive(database, { schema, stream, consumer }, LEASE_MS);
    if (letter === null) return;
    const { id, eventId } = letter;
    const fields = { schema, stream, consumer, eventId, letterId: id };
    try {
      await handler(await openLetter(letter));
    } catch (err) {
      logger.warn({ ...fields, err }, "a dead letter was not handled");
      const error = describeFailure(err);
      // After a transient failure it waits for the end of its lease.
      if (error !== null) await returnLetter(database, schema, { id, error });
      continue;
    }
    await deleteFailures(database, { schema, stream, consumer, eventId });
    logger.info(fields, "a dead letter was handled");
  }
}

async function openLetter({ bodyBase64, gzipped }: ClaimedLetter) {
  const event = parseEnvelope(await decodeBody(Buffer.from(bodyBase64, "base64"), gzipped));
  if (event === null) throw new Error("This is no event.");
  return event;
}

async function prune({ database, schema, logger }: TendOptions, signal: AbortSignal) {
  for (let removed = KEEP.limit; removed >= KEEP.limit && !signal.aborted;) {
    removed = await pruneLetters(database, schema, KEEP);
    if (removed > 0) logger.info({ schema, removed }, "old dead letters were removed");
  }
}

async function measure(
  { database, schema }: TendOptions,
  { stream, consumer }: SubscribeOptions,
  gauge: LetterGauge,
): Promise<void> {
  const count = await countLetters(database, { schema, stream, consumer }, COUNT_MAX).catch(
    (error: unknown) => {
      // An unknown value is better absent than old.
      gauge.remove({ schema, stream, consumer });
      throw error;
    },
  );
  gauge.set({ schema, stream, consumer }, count);
}

type LetterGauge = Gauge<"schema" | "stream" | "consumer">;

function letterGauge(registry: Registry): LetterGauge {
  return gaugeIn(registry, {
    name: "dead_letters",
    help: `Events that a consumer could not handle, counted up to ${COUNT_MAX}; the same in each process of a service.`,
    labelNames: ["schema", "stream", "consumer"] as const,
  });
}
