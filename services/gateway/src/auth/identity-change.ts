/** Whose access has changed or ended: credentials of theirs must be looked up again. */
export interface IdentityChange {
  /** `user` stands for all sessions of a person. */
  readonly type: "api_key" | "session" | "user";
  readonly id: string;
}

/** The Postgres channel on which gateways tell each other of changes. */
export const IDENTITY_CHANNEL = "gateway_identity";

const PATTERN = /^(api_key|session|user):(.+)$/;

/** A change as the payload of a notification. */
export function formatChange({ type, id }: IdentityChange): string {
  return `${type}:${id}`;
}

/** The change in a payload; undefined, which means everybody, when it is not one of ours. */
export function parseChange(payload: string): IdentityChange | undefined {
  const [, type, id] = PATTERN.exec(payload) ?? [];
  if (id === undefined) return undefined;
  if (type !== "api_key" && type !== "session" && type !== "user") return undefined;
  return { type, id };
}
