/** The reasons why an endpoint gets no deliveries. */
export const DISABLED_REASONS = ["consecutive_failures", "gone", "caller"] as const;
export const ENDPOINT_STATUSES = ["active", "disabled"] as const;

export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** The parts of an endpoint that its owner decides, without the encrypted ones. */
export interface EndpointContent {
  name: string;
  /** The URL as it was given. */
  url: string;
  /** The types of events that the endpoint gets; null: all. */
  events: readonly string[] | null;
  /** The workflows whose events the endpoint gets; null: all. */
  workflowIds: readonly string[] | null;
  description: string | null;
  /** Most attempts per second; null: no limit. */
  rateLimitPerSecond: number | null;
}

/** An endpoint that is to be created. */
export interface NewEndpoint extends EndpointContent {
  headers: Readonly<Record<string, string>>;
}

/** The changes of an endpoint. Absent members stay as they are. */
export type EndpointPatch = Partial<NewEndpoint> & { status?: EndpointStatus };

/** Most endpoints of one company. */
export const ENDPOINTS_MAX = 1_000;
export const ENDPOINT_ID_PREFIX = "whe_";
export const DELIVERY_ID_PREFIX = "whd_";
