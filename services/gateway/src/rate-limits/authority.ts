import type { Members, Responsible } from "./members.ts";
import type { Trust } from "./trust.ts";

/** What a gateway does about a claim. */
export type Role =
  /** Nobody else decides: this one does, for all. */
  | { readonly kind: "decide" }
  /** Nobody can be asked, and others may decide as well. */
  | { readonly kind: "share" }
  | { readonly kind: "ask"; readonly address: string; readonly isSecond: boolean }
  /** This gateway has stood still: its knowledge is old until then, and in the turn after it is not. */
  | { readonly kind: "catchUp"; readonly until: Promise<void> }
  /** It is not known yet who of two gateways decides. */
  | { readonly kind: "wait"; readonly until: Promise<void> };

const DECIDE: Role = { kind: "decide" };
const SHARE: Role = { kind: "share" };

export interface AuthorityOptions {
  members: Members;
  trust: Trust;
  /** Asks somebody for nothing; settles when the answer is there, or is too late. */
  probe: (address: string) => Promise<boolean>;
}

/**
 * Who decides for a window: its home, unless its deputy says that the home does not answer. Then the deputy does, and
 * the home asks it like everybody else, until the deputy has found it to answer again.
 */
export class Authority {
  readonly #options: AuthorityOptions;
  #catchingUp: Promise<void> | null = null;

  constructor(options: AuthorityOptions) {
    this.#options = options;
  }

  /** What this gateway does while its knowledge is old. */
  catchingUp(): Role | null {
    return this.#catchingUp === null ? null : { kind: "catchUp", until: this.#catchingUp };
  }

  roleFor(who: Responsible): Role {
    const { home, deputy } = who;
    const { members, trust } = this.#options;
    if (deputy === null) return DECIDE;
    if (home === members.self) return trust.isDoubtedBy(deputy) ? this.#askOr(deputy) : DECIDE;
    if (!trust.isSuspected(home)) return { kind: "ask", address: home, isSecond: false };
    if (deputy !== members.self) return this.#askOr(deputy, home);
    const isFree = trust.meeting(home) === null && !trust.isDoubtedBy(home);
    return isFree ? DECIDE : this.#waitOrShare(home);
  }

  /**
   * Nothing is decided before all have said what they have decided meanwhile: to be called when this gateway has
   * stood still. Messages keep their order, so an answer comes after all that was sent before.
   */
  catchUp(): void {
    const { members, trust, probe } = this.#options;
    trust.standStill();
    const others = members.others().filter((address) => !trust.isSuspected(address));
    if (others.length === 0) return;
    const catchingUp = Promise.all(others.map(probe)).then(() => {
      if (this.#catchingUp === catchingUp) this.#catchingUp = null;
    });
    this.#catchingUp = catchingUp;
  }

  #askOr(address: string, other = address): Role {
    if (!this.#options.trust.isSuspected(address)) return { kind: "ask", address, isSecond: true };
    return this.#waitOrShare(address, other);
  }

  /** Two that have just met agree soon. */
  #waitOrShare(...addresses: string[]): Role {
    for (const address of addresses) {
      const until = this.#options.trust.meeting(address);
      if (until !== null) return { kind: "wait", until };
    }
    return SHARE;
  }
}
