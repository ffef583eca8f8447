export { createTestDatabase } from "./test-database.ts";
export type { TestDatabase } from "./test-database.ts";
export { startHttpDouble } from "./http-double.ts";
export type { DoubleResponse, HttpDouble, RecordedRequest } from "./http-double.ts";
export { startLocalNats } from "./local-nats.ts";
export type { LocalNats } from "./local-nats.ts";
export { freePort } from "./free-port.ts";
export { waitFor } from "./wait-for.ts";
export type { WaitOptions } from "./wait-for.ts";
