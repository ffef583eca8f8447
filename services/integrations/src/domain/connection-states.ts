/** The states of a connection, as the contract names them. */
export const CONNECTION_STATUSES = [
  "pending",
  "active",
  "error",
  "expired",
  "disconnected",
  "abandoned",
] as const;

export type ConnectionStatus = (typeof CONNECTION_STATUSES)[number];

/** The transitions between states; nothing else changes a status. */
export const TRANSITIONS = {
  /**
   * OAuth or the bank has confirmed the account, for the first time or again (D39). No attempt begins
   * while the connection is active. It may have become active since, and the new access counts all the
   * same.
   */
  authorized: { from: ["pending", "active", "error", "expired", "disconnected"], to: "active" },
  /** The broker says that a first authorization has failed. The person may try again. */
  refused: { from: ["pending"], to: "error" },
  /** A first authorization was never completed. */
  abandoned: { from: ["pending"], to: "abandoned" },
  /** Other keys were entered and verified. */
  keysReplaced: { from: ["active", "error", "expired", "disconnected"], to: "active" },
  /** The provider has accepted the credentials. */
  verified: { from: ["active", "error", "expired"], to: "active" },
  /** The credentials were renewed. */
  refreshed: { from: ["active", "error", "expired"], to: "active" },
  /** The provider has refused the credentials, or they could not be renewed. */
  failed: { from: ["active", "error", "expired"], to: "error" },
  /** The account must be authorized again. */
  expired: { from: ["active", "error", "expired"], to: "expired" },
  /** A caller has ended the connection; it may be authorized again. */
  disconnected: { from: ["active", "error", "expired"], to: "disconnected" },
} as const satisfies Record<string, { from: readonly ConnectionStatus[]; to: ConnectionStatus }>;

export type Transition = keyof typeof TRANSITIONS;

/**
 * The states in which a connection counts toward the company's limit; the others are kept for the
 * record only.
 */
export const LIVE_STATUSES = ["pending", "active", "error", "expired"] as const;
