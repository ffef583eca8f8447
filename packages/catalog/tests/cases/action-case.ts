import type { ConnectionFields, Credentials } from "../../src/index.ts";

/** One call of an action with its exchanges; both runners of cases use it. */
export interface ActionCase {
  /** The action's name behind the provider's dot. */
  action: string;
  /** The purpose of the case, where an action has several. */
  what?: string;
  inputs: Record<string, unknown>;
  /** One exchange for each page, in order. */
  exchanges: readonly Exchange[];
  /** The step's output, or the failure of a call that fails. */
  output?: unknown;
  failure?: {
    status: number;
    code: string | null;
    message: string;
    retryable: boolean;
    limited?: boolean;
    badCredentials?: boolean;
    expired?: boolean;
    retryAfterMs?: number | null;
  };
  /** The input at fault, for a call that is refused before a request. */
  refused?: string;
}

/** An expected request, and the double's answer. */
export interface Exchange {
  request: {
    method: string;
    /** The path behind the base URL. */
    path: string;
    query?: Record<string, string | string[]>;
    /** The required headers in lower case. Credentials are checked for all requests of a provider. */
    headers?: Record<string, string>;
    /** The expected body: JSON is parsed and compared, a form by its decoded pairs. Absent: no body. */
    json?: unknown;
    form?: Record<string, string>;
    /** The expected body in neither of both forms. */
    text?: string | ((body: string) => void);
  };
  answer: { status?: number; headers?: Record<string, string>; body?: unknown };
}

/** All cases of a provider. */
export interface ProviderCases {
  provider: string;
  fields: ConnectionFields;
  credentials: Credentials;
  /** Headers of every request, and members of its query or body that carry credentials. */
  signature: { headers?: Record<string, string>; json?: Record<string, string> };
  /** The cases: at least one for each action, one failure, and pages for each list. */
  cases: readonly ActionCase[];
}
