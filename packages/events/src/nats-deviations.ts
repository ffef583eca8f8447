import type { ConsumerInfo, StreamInfo } from "nats";
import { AckPolicy, DeliverPolicy, DiscardPolicy, RetentionPolicy, StorageType } from "nats";
import type { EventsLogger } from "./logger.ts";
import type { NatsStreamOptions } from "./nats-config.ts";
import { consumerConfig, streamConfig } from "./nats-config.ts";

/** A field of a stream or consumer that differs from the configuration here. */
export interface Deviation {
  field: string;
  is: unknown;
  should: unknown;
  /** Whether events get lost by it, rather than being slower or fewer than meant. */
  losesEvents: boolean;
}

/** A field with its actual and its expected value. Equal values are no deviation. */
type Comparison = readonly [field: string, is: unknown, should: unknown, losesEvents: boolean];

/** The deviations of a stream. More copies than configured are none. */
export function streamDeviations(
  { config }: StreamInfo,
  options: NatsStreamOptions,
): readonly Deviation[] {
  const should = streamConfig(config.name, options);
  const keepsLess = isLess(config.max_age, should.max_age);
  return differing([
    ["subjects", config.subjects, should.subjects, false],
    ["storage", config.storage, StorageType.File, true],
    ["retention", config.retention, RetentionPolicy.Limits, true],
    ["discard", config.discard, DiscardPolicy.New, true],
    ["max_msgs_per_subject", config.max_msgs_per_subject, -1, true],
    ["max_age", config.max_age, keepsLess ? should.max_age : config.max_age, true],
    ["duplicate_window", config.duplicate_window, should.duplicate_window, false],
    ["num_replicas", config.num_replicas, Math.max(config.num_replicas, options.replicas), false],
  ]);
}

/** The deviations of a consumer. */
export function consumerDeviations(
  { config, name }: ConsumerInfo,
  ackWaitMs: number,
): readonly Deviation[] {
  const should = consumerConfig(name, ackWaitMs);
  return differing([
    ["ack_policy", config.ack_policy, AckPolicy.Explicit, true],
    ["deliver_policy", config.deliver_policy, DeliverPolicy.All, true],
    ["max_deliver", config.max_deliver, should.max_deliver, true],
    ["filter_subject", config.filter_subject ?? "", "", true],
    ["filter_subjects", config.filter_subjects ?? [], [], true],
    ["ack_wait", config.ack_wait, should.ack_wait, false],
    ["max_ack_pending", config.max_ack_pending, should.max_ack_pending, false],
    ["replay_policy", config.replay_policy, should.replay_policy, false],
  ]);
}

/** Logs the deviations of a stream or consumer. */
export type DeviationLog = (
  of: { stream: string; consumer?: string },
  deviations: readonly Deviation[],
) => void;

/** A log that reports the same deviations only once. */
export function createDeviationLog(logger: EventsLogger): DeviationLog {
  const told = new Map<string, string>();
  return (of, deviations) => {
    const key = `${of.stream}.${of.consumer ?? ""}`;
    const text = JSON.stringify(deviations);
    if (told.get(key) === text) return;
    told.set(key, text);
    const what = of.consumer === undefined ? "stream" : "consumer";
    for (const { losesEvents, ...deviation } of deviations) {
      const fields = { ...of, ...deviation };
      if (losesEvents) logger.error(fields, `the ${what} is set up so that events get lost`);
      else logger.warn(fields, `the ${what} is not set up as it should be`);
    }
  };
}

/** For limits of the server, 0 and -1 mean none. */
function isLess(limit: number, other: number): boolean {
  return limit > 0 && limit < other;
}

function differing(comparisons: readonly Comparison[]): readonly Deviation[] {
  return comparisons
    .filter(([, is, should]) => JSON.stringify(is) !== JSON.stringify(should))
    .map(([field, is, should, losesEvents]) => ({ field, is, should, losesEvents }));
}
