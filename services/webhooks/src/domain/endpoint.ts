/** Why an endpoint gets nothing. */
export const DISABLED_REASONS = ["consecutive_failures", "gone", "caller"] as const;
export const ENDPOINT_STATUSES = ["active", "disabled"] as const;

export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** What the owner of an endpoint decides, without what is sealed. */
export interface EndpointContent {
  name: string;
  /** As it was given. */
  url: string;
  /** The types that it gets; null: all. */
  events: readonly string[] | null;
  /** The workflows that it hears of; null: all. */
  workflowIds: readonly string[] | null;
  description: string | null;
  /** Attempts a second at most; null: no limit. */
  rateLimitPerSecond: number | null;
}

/** An endpoint that is to be made. */
export interface NewEndpoint extends EndpointContent {
  headers: Readonly<Record<string, string>>;
}

/** What is to change of an endpoint; what is absent stays. */
export type EndpointPatch = Partial<NewEndpoint> & { status?: EndpointStatus };

/** Of one company. */
export const ENDPOINTS_MAX = 1_000;
export const ENDPOINT_ID_PREFIX = "whe_";
export const DELIVERY_ID_PREFIX = "whd_";
