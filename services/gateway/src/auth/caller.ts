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
  /** When it ends however much it is used. */
  readonly endsAt: Date;
}

/** Who sends a request. */
export interface Caller {
  readonly identity: Identity;
  /** Null for a caller with an API key. */
  readonly session: Session | null;
}

/** A caller as found by a credential. */
export interface KnownCaller extends Caller {
  /** The rate limits that the company has of its own. */
  readonly ownLimits: OwnLimits;
}
