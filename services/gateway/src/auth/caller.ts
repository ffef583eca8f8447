import type { Identity } from "@workflow/rpc";
import type { OwnLimits } from "../domain/bucket.ts";
import type { Role } from "../domain/roles.ts";

/** A person who is signed in to a company. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly userName: string;
  readonly companyName: string;
  readonly role: Role;
  /** The time when the session ends, however much it is used. */
  readonly endsAt: Date;
}

/** The sender of a request. */
export interface Caller {
  readonly identity: Identity;
  /** Null for a caller with an API key. */
  readonly session: Session | null;
}

/** A caller as a credential identifies it. */
export interface KnownCaller extends Caller {
  /** The rate limits that an operator has set for the company. */
  readonly ownLimits: OwnLimits;
}
