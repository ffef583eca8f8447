export {
  EVENT_ID_PREFIX,
  eventEnvelopeSchema,
  eventTypeSchema,
  subjectOf,
  parseEnvelope,
} from "./envelope.ts";
export type { EventEnvelope, NewEvent } from "./envelope.ts";
export { createDeadLetters } from "./dead-letters.ts";
export type { DeadLetterOptions } from "./dead-letter-options.ts";
export { deleteDeadLetter, listDeadLetters, redriveDeadLetters } from "./dead-letter-admin.ts";
export type { ChangedLetter, DeadLetter } from "./dead-letter-admin.ts";
export { PublishError } from "./event-bus.ts";
export type {
  DeadLetters,
  EventBus,
  EventHandler,
  PublishedEvent,
  PublishFailure,
  SubscribeOptions,
  Subscription,
} from "./event-bus.ts";
export type { EventsLogger } from "./logger.ts";
export { insertEvents, toOutboxRow } from "./outbox.ts";
export type { OutboxRow, OutboxSchema } from "./outbox.ts";
export { createOutboxRelay } from "./relay.ts";
export type { OutboxRelay } from "./relay.ts";
export type { OutboxRelayOptions } from "./relay-options.ts";
export { createInProcessEventBus } from "./in-process-bus.ts";
export type { InProcessEventBusOptions } from "./in-process-bus.ts";
export { natsConfigFiles } from "./nats-config.ts";
export type { Replicas } from "./nats-config.ts";
export { setUpNats } from "./set-up-nats.ts";
export type { NatsSetUp, NatsSetUpOptions } from "./set-up-nats.ts";
export { createNatsEventBus } from "./nats-bus.ts";
export type { NatsEventBus } from "./nats-bus.ts";
export type { NatsEventBusOptions } from "./nats-bus.ts";
export { createNatsSignals } from "./nats-signals.ts";
export type { NatsSignalsOptions, SignalHandlers, Signals } from "./nats-signals.ts";
