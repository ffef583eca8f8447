import type { ActionInput } from "./action-input.ts";
import type { JsonPath, Pattern } from "./notations.ts";
import type { ProviderAuth } from "./provider-auth.ts";

export type { JsonPath, Pattern } from "./notations.ts";

/** What a connection knows of its account besides credentials: `realmId`, `domain`, `environment`. */
export type ConnectionFields = Readonly<Record<string, string>>;

/** The secret part of a connection: `accessToken` for OAuth, else `apiKey`, `clientId` and the like. */
export type Credentials = Readonly<Record<string, string>>;

/** The account at the provider that a call is made for. */
export interface ConnectionAccess {
  readonly fields: ConnectionFields;
  readonly credentials: Credentials;
}

/** Everything that the service knows about a provider. Adding one is adding a manifest. */
export interface ProviderManifest {
  /** The identifier in routes, connections and action ids (D37). */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** What the provider is for, as the catalog groups it: `payments`, `crm`. */
  readonly category: string;
  /** The provider's reference, which requests and answers were taken from. */
  readonly docs: string;
  /** Without a slash at the end; `<ID>_BASE_URL` replaces it. A function where fields decide. */
  readonly baseUrl: Pattern | ((fields: ConnectionFields) => Pattern);
  /**
   * Hosts that `http.request` may send this connection's credentials to, patterns as the base URL's; by
   * default the base URL's host. None: free requests are refused.
   */
  readonly hosts?: readonly Pattern[] | undefined;
  readonly auth: ProviderAuth;
  /** How a request says who sends it. */
  readonly sign: RequestSignature;
  /**
   * Credentials of our own that the provider wants besides the connection's, for `sign`: the name in patterns
   * and the setting that holds it. See `withOperatorCredentials`.
   */
  readonly operatorCredentials?: Readonly<Record<string, string>> | undefined;
  /** Sent with every request: versions, for example. */
  readonly headers?: Readonly<Record<string, Pattern>> | undefined;
  /** Bodies of requests; default `json`. */
  readonly bodyType?: BodyType | undefined;
  /**
   * The header that makes a repeated write one write, where the provider has one; for all of its actions but
   * those that say ignoresIdempotencyKey.
   */
  readonly idempotencyHeader?: string | undefined;
  /** The same as a query parameter; a key that is longer than `max` characters is sent as its hash. */
  readonly idempotencyQuery?: { readonly name: string; readonly max: number } | undefined;
  /**
   * What fields of the connection have to look like, whoever names them: a caller, a callback's query, a token
   * answer. `fieldProblem` checks them, and no request goes out with one that is wrong.
   */
  readonly fieldForms?: Readonly<Record<string, RegExp>> | undefined;
  /** Asked to find out whether credentials are good; absent where an account has none. */
  readonly verify?: VerificationRequest | undefined;
  /** What the provider is asked, for each account, so that it sends events; absent where it needs nothing. */
  readonly subscription?: SubscriptionRequest | undefined;
  readonly errors: ErrorMapping;
  readonly rateLimit?: RateLimitMapping | undefined;
  readonly actions: readonly ActionManifest[];
}

/** Asks for the events of an account. Asking again is harmless, and needed before the provider forgets it. */
export interface SubscriptionRequest {
  readonly method: "POST" | "PUT";
  /** May name fields of the connection. */
  readonly path: Pattern;
  /** Members of the body; may name fields of the connection, and `target`: the operator's `<ID>_EVENTS_TARGET`. */
  readonly body: Readonly<Record<string, Pattern>>;
  /** Asked again so long after it has worked, in milliseconds. */
  readonly renewAfterMs: number;
}

/** `form` nests with brackets: `items[0][price]=…`. */
export type BodyType = "json" | "form";

/** Parts of a request that carry credentials; each value is a pattern. */
export interface RequestSignature {
  readonly headers?: Readonly<Record<string, Pattern>> | undefined;
  /** HTTP basic. */
  readonly basic?: readonly [user: Pattern, password: Pattern] | undefined;
  readonly query?: Readonly<Record<string, Pattern>> | undefined;
  /** Members of a JSON body. */
  readonly body?: Readonly<Record<string, Pattern>> | undefined;
}

/** The parts of a request that an action makes; the rest is the provider's. */
export interface RequestParts {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Behind the base URL, or an absolute URL on one of the provider's hosts. */
  path: string;
  query: Record<string, QueryValue>;
  headers: Record<string, string>;
  /** Undefined: no body. A string is sent as it is, with the content type among the headers. */
  body: unknown;
}

export type QueryValue = string | number | boolean | readonly (string | number | boolean)[];

/** One action of a provider. */
export interface ActionManifest {
  /** Behind the dot of the action's id. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The page of the provider's reference that describes the call. */
  readonly docs: string;
  readonly inputs: readonly ActionInput[];
  /**
   * Keys that the provider took once, and the input in place of each. Who gives one is told; other keys that
   * no field has are left alone.
   */
  readonly renamed?: Readonly<Record<string, string>> | undefined;
  /** Names of the output's members. */
  readonly outputs: readonly string[];
  readonly request: {
    readonly method: RequestParts["method"];
    /** Behind the base URL: `{key}` stands for an input or a field of the connection, encoded. */
    readonly path: string;
    readonly bodyType?: BodyType | undefined;
    /** Fixed members of query and headers. */
    readonly query?: Readonly<Record<string, QueryValue>> | undefined;
    readonly headers?: Readonly<Record<string, string>> | undefined;
    /** Puts the inputs of the body below this member: `{customer: {…}}`. */
    readonly bodyMember?: string | undefined;
    /**
     * The body's member that makes a repeated call one call. It gets a UUID that is the same for every try of
     * a step, unless an input of this name was given.
     */
    readonly idempotencyMember?: string | undefined;
    /**
     * The provider's idempotency keys do not hold for this call: none is sent, and it is not made again while
     * nobody knows whether it was carried out.
     */
    readonly ignoresIdempotencyKey?: boolean | undefined;
    /**
     * For what declarations can't say: gets the parts that they gave and returns those to be sent. Pure. A
     * thrown InvalidInputError names the input at fault. The key is the same for every try of a step.
     */
    readonly build?:
      | ((call: {
          parts: RequestParts;
          inputs: Readonly<Record<string, unknown>>;
          fields: ConnectionFields;
          idempotencyKey?: string | undefined;
        }) => RequestParts | Promise<RequestParts>)
      | undefined;
  };
  readonly answer?:
    | {
        /** What of the body is the output; by default all of it. */
        readonly pick?: JsonPath | undefined;
        /** The output's member that it becomes, for what is not an object: `{items: […]}`. */
        readonly member?: string | undefined;
        /** For what declarations can't say. Pure. */
        readonly read?:
          | ((answer: ProviderAnswer, inputs: Readonly<Record<string, unknown>>) => unknown)
          | undefined;
      }
    | undefined;
  /** For lists: pages are fetched until `limit` (an input that is added) is reached. */
  readonly paging?: Paging | undefined;
  /** It only reads: repeating it is harmless, whatever became of the first call. */
  readonly readOnly?: boolean | undefined;
  /** A config that activates, for the catalog and its tests. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** An answer whose body was JSON, or null when it was empty. */
export interface ProviderAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** How a list goes on. The output is `{<member>: [...], hasMore}`. */
export interface Paging {
  /** Where the items of a page are; an empty path: the body is the array. */
  readonly items: JsonPath;
  /** The output's member that holds them. */
  readonly member: string;
  /** How many items a page may have at most and at least, and what says so. */
  readonly size?:
    { readonly param: string; readonly max: number; readonly min?: number | undefined } | undefined;
  /**
   * Parameters of paging go into query or body, where dots in their names make nested objects, or are words
   * at the end of one query parameter's text: `STARTPOSITION 1 MAXRESULTS 10`.
   */
  readonly in?: "query" | "body" | { readonly textOf: string } | undefined;
  readonly next:
    /** A value of the answer is sent back; missing, null or empty: the end. */
    | { readonly kind: "cursor"; readonly from: JsonPath; readonly param: string }
    /** A value of the last item is sent back while `more` is true. */
    | {
        readonly kind: "last";
        readonly from: JsonPath;
        readonly param: string;
        readonly more: JsonPath;
      }
    /** How many items to leave out; a page that is not full, or `total`, is the end. */
    | {
        readonly kind: "offset";
        readonly param: string;
        readonly first?: number | undefined;
        readonly total?: JsonPath | undefined;
      }
    /** The number of the page; a page that is not full, or `more` being false, is the end. */
    | {
        readonly kind: "page";
        readonly param: string;
        readonly first: number;
        readonly more?: JsonPath | undefined;
      }
    /** A path or URL in the answer. */
    | { readonly kind: "url"; readonly from: JsonPath }
    /** The header `Link` with rel="next" (RFC 8288). */
    | { readonly kind: "link" };
}

/** What an answer says about what went wrong. */
export interface ErrorMapping {
  /** Looked at in this order; the first that holds a text or a number counts. */
  readonly code: readonly JsonPath[];
  readonly message: readonly JsonPath[];
  /** Where the provider says with status 200 that it failed: `{path: "ok", equals: false}`. */
  readonly failedWhen?:
    | { readonly path: JsonPath; readonly equals?: FieldConditionValue; readonly exists?: true }
    | undefined;
  /** Codes that may work later, besides 408, 425, 429 and 5xx. */
  readonly retryableCodes?: readonly string[] | undefined;
  /** Codes that no later try will change, although the status says so: a caller's mistake with status 500. */
  readonly finalCodes?: readonly string[] | undefined;
  /** Codes that say that the credentials are bad, besides status 401. */
  readonly credentialCodes?: readonly string[] | undefined;
  /** Codes that say that the account's owner has to authorize again: the connection is expired. */
  readonly expiredCodes?: readonly string[] | undefined;
  /** Codes that say that good credentials may not do this, even with status 401. */
  readonly permissionCodes?: readonly string[] | undefined;
  /**
   * How a message begins where the provider tells failures apart by nothing else: whole words, in any case.
   * `exhausted` is what exhaustedCodes say.
   */
  readonly messages?: Readonly<Record<string, "exhausted" | "permission">> | undefined;
}

type FieldConditionValue = string | number | boolean | null;

/** How a provider says that it is called too often, besides status 429 with Retry-After. */
export interface RateLimitMapping {
  readonly codes?: readonly string[] | undefined;
  /**
   * Codes that concern one object alone, with status 429 too: other calls need not wait. Whether they are tried
   * again is said by status and retryableCodes, as of any failure.
   */
  readonly objectCodes?: readonly string[] | undefined;
  /** Statuses that may mean it when one of the codes or an empty remainder says so: 403. */
  readonly statuses?: readonly number[] | undefined;
  readonly remainingHeader?: string | undefined;
  /** When calls are welcome again: seconds from now, or a time in seconds or milliseconds since 1970. */
  readonly resetHeader?:
    { readonly name: string; readonly unit: "seconds" | "epochSeconds" | "epochMs" } | undefined;
  /** Codes that say, whatever the status, that a quota is used up which no wait of a step brings back. */
  readonly exhaustedCodes?: readonly string[] | undefined;
  /** How long to wait by code, in milliseconds, where the code says more than resetHeader does. */
  readonly codeWaitsMs?: Readonly<Record<string, number>> | undefined;
  /** How long to wait when nothing else says so, in milliseconds. */
  readonly waitMs?: number | undefined;
}

/** A request that is only answered well when the credentials are good. */
export interface VerificationRequest {
  readonly method: "GET" | "POST";
  /** `{name}` stands for a field of the connection. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** Statuses that say that the credentials are bad; by default 401 and 403. */
  readonly badStatuses?: readonly number[] | undefined;
  /** Where a good status may say as well that the credentials are bad: `{path: "authenticated", equals: false}`. */
  readonly badWhen?: { readonly path: JsonPath; readonly equals: FieldConditionValue } | undefined;
  /** Where a good answer may hold an error about the account, read like an error's body. */
  readonly errorIn?: JsonPath | undefined;
  /** Where the account's id is in the answer: it becomes externalAccountId. */
  readonly accountId?: JsonPath | undefined;
  /**
   * Where the answer lists domains that are proven to be the account's. One of them, or an address in one, may
   * be its externalAccountId; an only one is.
   */
  readonly domains?:
    | {
        readonly items: JsonPath;
        readonly name: JsonPath;
        readonly provenWhen: { readonly path: JsonPath; readonly equals: FieldConditionValue };
      }
    | undefined;
  /** Fields of the connection that the answer brings, by their places. */
  readonly fields?: Readonly<Record<string, JsonPath>> | undefined;
}
