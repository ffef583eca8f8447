/** Whose access has changed or ended: credentials of theirs must be looked up again. */
export interface IdentityChange {
  /** `user` stands for all sessions of a person, `company` for all that is a company's. */
  readonly type: "api_key" | "session" | "user" | "company";
  readonly id: string;
}

/** The Postgres channel on which gateways tell each other of changes. */
export const IDENTITY_CHANNEL = "gateway_identity";

const PATTERN = /^(api_key|session|user|company):(.+)$/;

/** A change as the payload of a notification. */
export function formatChange({ type, id }: IdentityChange): string {
  return `${type}:${id}`;
}

/** The change in a payload; undefined, which means everybody, when it is not one of ours. */
export function parseChange(payload: string): IdentityChange | undefined {
  const [, type, id] = PATTERN.exec(payload) ?? [];
  if (id === undefined) return undefined;
  if (type === "api_key" || type === "session" || type === "user" || type === "company") {
    return { type, id };
  }
  return undefined;
}
