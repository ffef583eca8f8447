import { endpointDisabledType } from "./endpoint-disabled-type.ts";
import type { EventType } from "./event-type.ts";
import { RUN_EVENT_TYPES } from "./run-event-types.ts";

/** All types (D64): those of runs in the order of a run's life, then those of endpoints. */
export const EVENT_TYPES: readonly EventType[] = [...RUN_EVENT_TYPES, endpointDisabledType];

/** The type of that name; undefined when there is none. */
export function findEventType(type: string): EventType | undefined {
  return EVENT_TYPES.find((each) => each.type === type);
}
