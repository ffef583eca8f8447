import type { ActionInput } from "./action-input.ts";
import type { JsonPath, Pattern } from "./notations.ts";
import type { ProviderAuth } from "./provider-auth.ts";

export type { JsonPath, Pattern } from "./notations.ts";

/** The fields of a connection's account besides credentials: `realmId`, `domain`, `environment`. */
export type ConnectionFields = Readonly<Record<string, string>>;

/** The secret part of a connection: `accessToken` for OAuth, else `apiKey`, `clientId` and the like. */
export type Credentials = Readonly<Record<string, string>>;

/** The account at the provider that a call uses. */
export interface ConnectionAccess {
  readonly fields: ConnectionFields;
  readonly credentials: Credentials;
}

/** All facts about a provider. A new provider is a new manifest. */
export interface ProviderManifest {
  /** The identifier in routes, connections and action ids (D37). */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The provider's group in the catalog: `payments`, `crm`. */
  readonly category: string;
  /** The provider's reference, the source of requests and answers. */
  readonly docs: string;
  /** The base URL without a slash at the end; `<ID>_BASE_URL` replaces it. A function where fields decide. */
  readonly baseUrl: Pattern | ((fields: ConnectionFields) => Pattern);
  /**
   * The hosts to which `http.request` may send this connection's credentials, as patterns. By default the
   * base URL's host. An empty list refuses such requests.
   */
  readonly hosts?: readonly Pattern[] | undefined;
  readonly auth: ProviderAuth;
  /** The way in which a request authenticates. */
  readonly sign: RequestSignature;
  /**
   * The operator's credentials that the provider needs besides the connection's, for `sign`. Each has a name
   * in patterns and a setting that holds it. See `withOperatorCredentials`.
   */
  readonly operatorCredentials?: Readonly<Record<string, string>> | undefined;
  /** Headers of every request, such as a version. */
  readonly headers?: Readonly<Record<string, Pattern>> | undefined;
  /** The encoding of request bodies; default `json`. */
  readonly bodyType?: BodyType | undefined;
  /**
   * The header for idempotency keys, where the provider has one. All actions send it, except those with
   * ignoresIdempotencyKey.
   */
  readonly idempotencyHeader?: string | undefined;
  /** The query parameter for idempotency keys; a key longer than `max` characters is sent as its hash. */
  readonly idempotencyQuery?: { readonly name: string; readonly max: number } | undefined;
  /**
   * The forms of the connection's fields, from any source: a caller, a callback's query, a token answer.
   * `fieldProblem` checks them, and no request is sent with an invalid field.
   */
  readonly fieldForms?: Readonly<Record<string, RegExp>> | undefined;
  /** The request that verifies credentials; absent where an account has none. */
  readonly verify?: VerificationRequest | undefined;
  /** The request for each account by which the provider sends events; absent where none is needed. */
  readonly subscription?: SubscriptionRequest | undefined;
  readonly errors: ErrorMapping;
  readonly rateLimit?: RateLimitMapping | undefined;
  readonly actions: readonly ActionManifest[];
}

/**
 * A subscription to the events of an account. Repeating the request is harmless, and required before the
 * provider drops the subscription.
 */
export interface SubscriptionRequest {
  readonly method: "POST" | "PUT";
  /** A pattern that may name fields of the connection. */
  readonly path: Pattern;
  /**
   * The members of the body. Patterns may name fields of the connection, and `target`: the operator's
   * `<ID>_EVENTS_TARGET`.
   */
  readonly body: Readonly<Record<string, Pattern>>;
  /** The time from a success to the repetition, in milliseconds. */
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

/** The parts of a request that an action builds; the provider adds the rest. */
export interface RequestParts {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path behind the base URL, or an absolute URL on one of the provider's hosts. */
  path: string;
  query: Record<string, QueryValue>;
  headers: Record<string, string>;
  /** The body; undefined for none. A string is sent as it is, with the content type among the headers. */
  body: unknown;
}

export type QueryValue = string | number | boolean | readonly (string | number | boolean)[];

/** One action of a provider. */
export interface ActionManifest {
  /** The part of the action's id behind the dot. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The page of the provider's reference that describes the call. */
  readonly docs: string;
  readonly inputs: readonly ActionInput[];
  /**
   * Keys that the provider accepted once, and the input that replaces each. A step with such a key gets a
   * message; other unknown keys are ignored.
   */
  readonly renamed?: Readonly<Record<string, string>> | undefined;
  /** The names of the output's members. */
  readonly outputs: readonly string[];
  readonly request: {
    readonly method: RequestParts["method"];
    /** The path behind the base URL. `{key}` stands for an input or a field of the connection, encoded. */
    readonly path: string;
    readonly bodyType?: BodyType | undefined;
    /** Fixed members of query and headers. */
    readonly query?: Readonly<Record<string, QueryValue>> | undefined;
    readonly headers?: Readonly<Record<string, string>> | undefined;
    /** Puts the inputs of the body below this member: `{customer: {…}}`. */
    readonly bodyMember?: string | undefined;
    /**
     * The body's member for an idempotency key. The value is a UUID, equal for every attempt of a step,
     * unless an input has this name.
     */
    readonly idempotencyMember?: string | undefined;
    /**
     * Whether the provider ignores idempotency keys for this call. No key is sent then, and a call with an
     * unknown result is not repeated.
     */
    readonly ignoresIdempotencyKey?: boolean | undefined;
    /**
     * Builds requests that declarations cannot express, from the parts that the declarations give. Pure. A
     * thrown InvalidInputError names the input at fault. The key is equal for every attempt of a step.
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
        /** The part of the body that is the output; by default all of it. */
        readonly pick?: JsonPath | undefined;
        /** The output's member for a part that is not an object: `{items: […]}`. */
        readonly member?: string | undefined;
        /** Makes outputs that declarations cannot express. Pure. */
        readonly read?:
          | ((answer: ProviderAnswer, inputs: Readonly<Record<string, unknown>>) => unknown)
          | undefined;
      }
    | undefined;
  /** The paging of a list. Pages are fetched until `limit`, an input that is added. */
  readonly paging?: Paging | undefined;
  /** Whether the action only reads, so that repeating a call is always harmless. */
  readonly readOnly?: boolean | undefined;
  /** A valid config, for the catalog and its tests. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** An answer with a JSON body, or null for an empty one. */
export interface ProviderAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The paging of a list. The output is `{<member>: [...], hasMore}`. */
export interface Paging {
  /** The path of a page's items; an empty path means that the body is the array. */
  readonly items: JsonPath;
  /** The output's member for the items. */
  readonly member: string;
  /** The most and the least items of a page, and the parameter for their number. */
  readonly size?:
    { readonly param: string; readonly max: number; readonly min?: number | undefined } | undefined;
  /**
   * Parameters of paging go into query or body; dots in body names make nested objects. Or parameters are
   * words at the end of one query parameter's text: `STARTPOSITION 1 MAXRESULTS 10`.
   */
  readonly in?: "query" | "body" | { readonly textOf: string } | undefined;
  readonly next:
    /** A value of the answer is sent back. A missing, null or empty value ends the list. */
    | { readonly kind: "cursor"; readonly from: JsonPath; readonly param: string }
    /** A value of the last item is sent back while `more` is true. */
    | {
        readonly kind: "last";
        readonly from: JsonPath;
        readonly param: string;
        readonly more: JsonPath;
      }
    /** The number of items to skip. A page that is not full ends the list, as does `total`. */
    | {
        readonly kind: "offset";
        readonly param: string;
        readonly first?: number | undefined;
        readonly total?: JsonPath | undefined;
      }
    /** The number of the page. A page that is not full ends the list, as does a false `more`. */
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

/** The parts of an answer that describe an error. */
export interface ErrorMapping {
  /** Paths in order of precedence: the first text or number counts. */
  readonly code: readonly JsonPath[];
  readonly message: readonly JsonPath[];
  /** The mark of a failure with status 200: `{path: "ok", equals: false}`. */
  readonly failedWhen?:
    | { readonly path: JsonPath; readonly equals?: FieldConditionValue; readonly exists?: true }
    | undefined;
  /** Codes of failures that may pass, besides the statuses 408, 425, 429 and 5xx. */
  readonly retryableCodes?: readonly string[] | undefined;
  /** Codes of lasting failures, whatever the status: a caller's mistake with status 500. */
  readonly finalCodes?: readonly string[] | undefined;
  /** Codes of refused credentials, besides status 401. */
  readonly credentialCodes?: readonly string[] | undefined;
  /** Codes that require a new authorization by the account's owner: the connection is expired. */
  readonly expiredCodes?: readonly string[] | undefined;
  /** Codes of valid credentials without the permission, even with status 401. */
  readonly permissionCodes?: readonly string[] | undefined;
  /**
   * The beginnings of messages, for providers that tell failures apart by nothing else: whole words, in any
   * case. `exhausted` has the meaning of exhaustedCodes.
   */
  readonly messages?: Readonly<Record<string, "exhausted" | "permission">> | undefined;
}

type FieldConditionValue = string | number | boolean | null;

/** The signs of a rate limit besides status 429 with Retry-After. */
export interface RateLimitMapping {
  readonly codes?: readonly string[] | undefined;
  /**
   * Codes that concern one object only, even with status 429, so other calls need not wait. Status and
   * retryableCodes decide on a retry, as for any failure.
   */
  readonly objectCodes?: readonly string[] | undefined;
  /** Statuses that mean a rate limit when one of the codes or an empty remainder says so: 403. */
  readonly statuses?: readonly number[] | undefined;
  readonly remainingHeader?: string | undefined;
  /**
   * The header with the reset of the limit: seconds from now, or a time in seconds or milliseconds since
   * 1970.
   */
  readonly resetHeader?:
    { readonly name: string; readonly unit: "seconds" | "epochSeconds" | "epochMs" } | undefined;
  /** Codes of a used-up quota, whatever the status; no wait of a step restores such a quota. */
  readonly exhaustedCodes?: readonly string[] | undefined;
  /** The wait by code, in milliseconds, where the code says more than resetHeader. */
  readonly codeWaitsMs?: Readonly<Record<string, number>> | undefined;
  /** The wait in milliseconds when the answer names none. */
  readonly waitMs?: number | undefined;
}

/** A request that succeeds only with valid credentials. */
export interface VerificationRequest {
  readonly method: "GET" | "POST";
  /** The path; `{name}` stands for a field of the connection. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** The statuses of refused credentials; by default 401 and 403. */
  readonly badStatuses?: readonly number[] | undefined;
  /** The mark of refused credentials in a successful answer: `{path: "authenticated", equals: false}`. */
  readonly badWhen?: { readonly path: JsonPath; readonly equals: FieldConditionValue } | undefined;
  /** The path of an error about the account in a successful answer, read like an error's body. */
  readonly errorIn?: JsonPath | undefined;
  /** The path of the account's id in the answer, which becomes externalAccountId. */
  readonly accountId?: JsonPath | undefined;
  /**
   * The path of the account's proven domains in the answer. The externalAccountId may be one of these
   * domains, or an address in one. A single domain is the id itself.
   */
  readonly domains?:
    | {
        readonly items: JsonPath;
        readonly name: JsonPath;
        readonly provenWhen: { readonly path: JsonPath; readonly equals: FieldConditionValue };
      }
    | undefined;
  /** Fields of the connection that the answer contains, with their paths. */
  readonly fields?: Readonly<Record<string, JsonPath>> | undefined;
}
