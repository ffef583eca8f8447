import type { Members, Responsible } from "./members.ts";
import type { Trust } from "./trust.ts";

/** What a gateway does about a claim. */
export type Role =
  /** Nobody else decides: this one does, for all. */
  | { readonly kind: "decide" }
  /** Nobody can be asked, and others may decide as well. */
  | { readonly kind: "share" }
  | { readonly kind: "ask"; readonly address: string; readonly patience: Patience }
  /** This gateway has stood still: its knowledge is old until then, and in the turn after it is not. */
  | { readonly kind: "catchUp"; readonly until: Promise<void> }
  /** It is not known yet who of two gateways decides. */
  | { readonly kind: "wait"; readonly until: Promise<void> };

/**
 * How long somebody is waited for: the `first` who is asked; the `second`, who may have to find out for itself that the
 * first does not answer; and the `last`, who is suspected as well, but nobody else knows what was let through.
 */
export type Patience = "first" | "second" | "last";

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

  roleFor({ home, deputy }: Responsible): Role {
    const { members, trust } = this.#options;
    if (deputy === null) return DECIDE;
    if (home === members.self) {
      if (!trust.isDoubtedBy(deputy)) return DECIDE;
      return trust.isSuspected(deputy) ? this.#agreeWith(deputy) : askOf(deputy, "second");
    }
    if (!trust.isSuspected(home)) return askOf(home, "first");
    if (deputy === members.self) {
      const isFree = trust.meeting(home) === null && !trust.isDoubtedBy(home);
      return isFree ? DECIDE : this.#agreeWith(home);
    }
    if (!trust.isSuspected(deputy)) return askOf(deputy, "second");
    return askOf(members.likelier(home, deputy), "last");
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
    const ask = async (address: string): Promise<void> => {
      if (!(await probe(address))) trust.miss(address);
    };
    const catchingUp = Promise.all(others.map(ask)).then(() => {
      if (this.#catchingUp === catchingUp) this.#catchingUp = null;
    });
    this.#catchingUp = catchingUp;
  }

  /** Home and deputy suspect each other. */
  #agreeWith(other: string): Role {
    const { trust } = this.#options;
    const until = trust.meeting(other);
    if (until !== null) return { kind: "wait", until };
    return trust.isUnheard(other) ? askOf(other, "last") : SHARE;
  }
}

function askOf(address: string, patience: Patience): Role {
  return { kind: "ask", address, patience };
}
