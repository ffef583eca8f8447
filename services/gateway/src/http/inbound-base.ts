/** Where senders of webhooks find us. */
export const INBOUND_BASE = "/webhooks";
