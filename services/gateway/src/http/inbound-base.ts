/** The path prefix of inbound webhooks. */
export const INBOUND_BASE = "/webhooks";
