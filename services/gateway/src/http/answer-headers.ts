/** Where machines and people find out about the API; on every response (D8). */
const LINK_HEADER = [
  '</.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json"',
  '</api/v1/openapi.json>; rel="service-desc"; type="application/vnd.oai.openapi+json;version=3.1"',
  '</docs>; rel="service-doc"; type="text/html"',
].join(", ");

type Entry = readonly [name: string, value: string];

/**
 * Nothing that the API answers is a page, to be framed, run or kept by anybody; what is one says so by
 * headers of its own (https://cheatsheetseries.owasp.org/cheatsheets/REST_Security_Cheat_Sheet.html).
 */
const ALWAYS: readonly Entry[] = [
  ["Link", LINK_HEADER],
  ["Cache-Control", "no-store"],
  ["X-Content-Type-Options", "nosniff"],
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
  ["X-Frame-Options", "DENY"],
  ["Referrer-Policy", "no-referrer"],
  ["Cross-Origin-Resource-Policy", "same-origin"],
];

/** A year; which of the host's other names speak https is not ours to say. */
const BY_HTTPS: Entry = ["Strict-Transport-Security", "max-age=31536000"];

/** What scripts of other origins may read beside what every script may. */
const EXPOSED = [
  "ETag",
  "Link",
  "Location",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
].join(", ");

/**
 * The headers of every response that do not depend on what is answered. They are made up once for each
 * origin and scheme: requests only pick theirs.
 */
export class AnswerHeaders {
  readonly #forOthers: Variants;
  readonly #byOrigin: ReadonlyMap<string, Variants>;

  /** @param corsOrigins whose pages may read answers; they have keys, as cookies stay with our own pages */
  constructor(corsOrigins: readonly string[]) {
    const vary = corsOrigins.length === 0 ? "Accept-Encoding" : "Accept-Encoding, Origin";
    const forAll: readonly Entry[] = [...ALWAYS, ["Vary", vary]];
    this.#forOthers = variantsOf(forAll);
    this.#byOrigin = new Map(
      corsOrigins.map((origin) => [
        origin,
        variantsOf([
          ...forAll,
          ["Access-Control-Allow-Origin", origin],
          ["Access-Control-Expose-Headers", EXPOSED],
        ]),
      ]),
    );
  }

  /** Those of an answer to a page of this origin. */
  of(origin: string | undefined, isSecure: boolean): readonly Entry[] {
    const variants =
      origin === undefined ? this.#forOthers : (this.#byOrigin.get(origin) ?? this.#forOthers);
    return isSecure ? variants.byHttps : variants.byHttp;
  }
}

interface Variants {
  byHttp: readonly Entry[];
  byHttps: readonly Entry[];
}

function variantsOf(entries: readonly Entry[]): Variants {
  return { byHttp: entries, byHttps: [...entries, BY_HTTPS] };
}
