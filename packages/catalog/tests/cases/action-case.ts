import type { ConnectionFields, Credentials } from "../../src/index.ts";

/** One call of an action, and what goes over the wire; both runners of cases use it. */
export interface ActionCase {
  /** The action's name, behind the provider's dot. */
  action: string;
  /** What is special about it, where an action has several cases. */
  what?: string;
  inputs: Record<string, unknown>;
  /** One exchange a page, in order. */
  exchanges: readonly Exchange[];
  /** The step's output; or, for a call that fails, what the failure says. */
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
  /** The input at fault, for a call that is refused before anything is sent. */
  refused?: string;
}

/** A request as it has to be, and what the double answers. */
export interface Exchange {
  request: {
    method: string;
    /** Behind the base URL. */
    path: string;
    query?: Record<string, string | string[]>;
    /** At least these, lower case; credentials are checked for all requests of a provider. */
    headers?: Record<string, string>;
    /** JSON: parsed and compared; form: its decoded pairs. Absent: no body. */
    json?: unknown;
    form?: Record<string, string>;
    /** For neither of them. */
    text?: string | ((body: string) => void);
  };
  answer: { status?: number; headers?: Record<string, string>; body?: unknown };
}

/** All cases of a provider. */
export interface ProviderCases {
  provider: string;
  fields: ConnectionFields;
  credentials: Credentials;
  /** Headers that every request has to carry, and members of its query or body that sign it. */
  signature: { headers?: Record<string, string>; json?: Record<string, string> };
  /** At least one for each action, one of a failure, and one of pages for each list. */
  cases: readonly ActionCase[];
}
