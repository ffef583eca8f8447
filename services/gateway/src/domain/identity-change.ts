/** A change of access: cached credentials of this key, session, person or company are invalid. */
export interface IdentityChange {
  /** `user` stands for all sessions of a person, `company` for everything of a company. */
  readonly type: "api_key" | "session" | "user" | "company";
  readonly id: string;
}

/** The Postgres channel on which gateways notify each other of changes. */
export const IDENTITY_CHANNEL = "gateway_identity";

const PATTERN = /^(api_key|session|user|company):(.+)$/;

/** A change as the payload of a notification. */
export function formatChange({ type, id }: IdentityChange): string {
  return `${type}:${id}`;
}

/** The change in a payload; undefined when it cannot be parsed, which invalidates everything. */
export function parseChange(payload: string): IdentityChange | undefined {
  const [, type, id] = PATTERN.exec(payload) ?? [];
  if (id === undefined) return undefined;
  if (type === "api_key" || type === "session" || type === "user" || type === "company") {
    return { type, id };
  }
  return undefined;
}
