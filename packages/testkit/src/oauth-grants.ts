import { createHash, randomBytes } from "node:crypto";

/** A token that was given out. */
export interface GivenToken {
  accessToken: string;
  refreshToken: string;
  /** The consent that the token came from. Its tokens are revoked together. */
  family: string;
}

/** A code that a consent has made. */
interface Code {
  challenge: string | null;
  redirectUri: string;
  family: string;
  used: boolean;
}

/** The consents of an authorization server, with their codes and tokens. */
export class OAuthGrants {
  /** All tokens, in the order in which they were given out. */
  readonly given: GivenToken[] = [];
  /** How often a used code or refresh token was shown again. */
  reuses = 0;
  readonly #rotates: boolean;
  readonly #codes = new Map<string, Code>();
  readonly #current = new Map<string, GivenToken>();
  readonly #revoked = new Set<string>();

  /** @param rotates whether each use of a refresh token replaces it */
  constructor(rotates: boolean) {
    this.#rotates = rotates;
  }

  /** Makes a code for a new consent. */
  createCode(challenge: string | null, redirectUri: string): string {
    const code = random("code");
    this.#codes.set(code, { challenge, redirectUri, family: random("fam"), used: false });
    return code;
  }

  /** Gives out tokens of a consent, by default of a new one. */
  give(family = random("fam")): GivenToken {
    const token = { accessToken: random("at"), refreshToken: random("rt"), family };
    const kept = this.#rotates ? undefined : this.#current.get(family)?.refreshToken;
    const next = { ...token, refreshToken: kept ?? token.refreshToken };
    this.given.push(next);
    this.#current.set(family, next);
    return next;
  }

  /** The tokens for a code; null where the grant is not valid. A code that comes again ends its consent. */
  exchangeCode(form: URLSearchParams): GivenToken | null {
    const code = this.#codes.get(form.get("code") ?? "");
    if (code === undefined) return null;
    if (code.used) return this.#refuseReuse(code.family);
    code.used = true;
    const verifier = form.get("code_verifier");
    const challenge = verifier === null ? null : challengeOf(verifier);
    const isSame = challenge === code.challenge && form.get("redirect_uri") === code.redirectUri;
    return isSame ? this.give(code.family) : null;
  }

  /** The tokens for a refresh token; null where the grant is not valid. A replaced one ends its consent. */
  refresh(form: URLSearchParams): GivenToken | null {
    const shown = form.get("refresh_token");
    const known = this.given.find(({ refreshToken }) => refreshToken === shown);
    if (known === undefined || this.#revoked.has(known.family)) return null;
    const isCurrent = this.#current.get(known.family)?.refreshToken === shown;
    return isCurrent ? this.give(known.family) : this.#refuseReuse(known.family);
  }

  /** Whether an access token was given out and its consent goes on. */
  accepts(accessToken: string | undefined): boolean {
    const known = this.given.find((each) => each.accessToken === accessToken);
    return known !== undefined && !this.#revoked.has(known.family);
  }

  /** Ends the consent of an access or refresh token; nothing happens for an unknown one. */
  revoke(token: string): void {
    const known = this.#find(token);
    if (known !== undefined) this.#revoked.add(known.family);
  }

  /** Whether the consent of an access or refresh token has ended. */
  isRevoked(token: string): boolean {
    const known = this.#find(token);
    return known !== undefined && this.#revoked.has(known.family);
  }

  #find(token: string): GivenToken | undefined {
    return this.given.find((each) => [each.accessToken, each.refreshToken].includes(token));
  }

  #refuseReuse(family: string): null {
    this.reuses += 1;
    this.#revoked.add(family);
    return null;
  }
}

function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url");
}

function random(kind: string): string {
  return `${kind}_${randomBytes(12).toString("hex")}`;
}
