export { listGivenUpEvents, redriveGivenUpEvents } from "../store/given-up-events.ts";
export type { GivenUpEvent } from "../store/given-up-events.ts";
