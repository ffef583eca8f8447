/** Links to the description of the API and to its catalog; every response has them (D8). */
const LINK_HEADER = [
  '</.well-known/api-catalog>; rel="api-catalog"; type="application/linkset+json"',
  '</api/v1/openapi.json>; rel="service-desc"; type="application/vnd.oai.openapi+json;version=3.1"',
  '</docs>; rel="service-doc"; type="text/html"',
].join(", ");

type Entry = readonly [name: string, value: string];

/**
 * No answer of the API is a page that may be framed, run or stored. Pages set headers of their own
 * (https://cheatsheetseries.owasp.org/cheatsheets/REST_Security_Cheat_Sheet.html).
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

/** One year. Subdomains are left out: this service does not know whether they support https. */
const BY_HTTPS: Entry = ["Strict-Transport-Security", "max-age=31536000"];

/** The headers that scripts of other origins may read, beyond those that every script may. */
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
 * The headers that every response has, whatever it answers. They are built once for each origin and
 * scheme; requests only look them up.
 */
export class AnswerHeaders {
  readonly #forOthers: Variants;
  readonly #byOrigin: ReadonlyMap<string, Variants>;

  /**
   * @param corsOrigins origins whose pages may read answers; they use keys, since cookies stay with
   * our own pages
   */
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

  /** The headers of an answer to a page of this origin. */
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
