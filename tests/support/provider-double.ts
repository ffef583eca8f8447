import { startHttpDouble } from "@workflow/testkit";
import type { DoubleResponse, HttpDouble, RecordedRequest } from "@workflow/testkit";

/** Every provider with API keys on one local server; the beginning of a key decides the answer. */
export interface ProviderDouble extends HttpDouble {
  /** The base URL of each provider, as the operator sets it. */
  settings: ReadonlyMap<string, { baseUrl: string }>;
  /** Good keys that are bad from now on. */
  revoked: Set<string>;
  /** Keys whose requests get no answer from now on. */
  unanswered: Set<string>;
}

const PROVIDERS = ["airwallex", "avalara", "odoo", "plaid", "rillet", "resend", "sendgrid"];

/** The answer of each provider when it verifies a good key that names no account. */
const ACCOUNTS: Readonly<Record<string, unknown>> = {
  airwallex: { id: "acct_of_airwallex" },
  avalara: { authenticated: true, authenticatedAccountId: 42 },
  odoo: { lang: "en_US" },
  plaid: { item: { item_id: "item_1" }, accounts: [{ account_id: "acc_1", name: "Checking" }] },
  rillet: { id: "org_1" },
  resend: { data: [] },
  sendgrid: { scopes: [] },
};

/** The answers to keys by their beginnings, for all providers. */
const ANSWERS: Readonly<Record<string, DoubleResponse>> = {
  bad: { status: 401, body: { message: "no", errors: [{ message: "no" }] } },
  down: { status: 503, body: { message: "later" } },
  busy: { status: 429, headers: { "retry-after": "1" }, body: { message: "slow down" } },
  html: { status: 200, headers: { "content-type": "text/html" }, body: "<h1>Welcome</h1>" },
  broken: { status: 200, headers: { "content-type": "application/json" }, body: '{"id": ' },
  huge: { status: 200, body: "x".repeat(2 * 1024 * 1024) },
  away: { status: 302, headers: { location: "http://elsewhere.example/" } },
};

export async function startProviderDouble(): Promise<ProviderDouble> {
  const revoked = new Set<string>();
  const unanswered = new Set<string>();
  const double = await startHttpDouble((request, response) => {
    const key = keyOf(request);
    const kind = key.split("-")[0] ?? "";
    if (kind === "cut" || unanswered.has(key)) {
      response.destroy();
      return;
    }
    // An error that repeats the request, as many servers do.
    const said = `the key ${key} is not good`;
    const echo = { message: said, detail: said, errors: [{ message: said }] };
    if (kind === "echo" || revoked.has(key)) return { status: 401, body: echo };
    const [, provider = "", ...path] = request.path.split("/");
    return ANSWERS[kind] ?? answerOf(provider, path.join("/"), key);
  });
  const settings = new Map(
    PROVIDERS.map((id) => [
      id,
      { baseUrl: `${double.url}/${id}`, clientId: "our-id", clientSecret: "our-secret" },
    ]),
  );
  return Object.assign(double, { settings, revoked, unanswered });
}

let logins = 0;

function answerOf(provider: string, path: string, key: string): DoubleResponse {
  if (path === "api/v1/authentication/login") {
    logins += 1;
    const expires_at = new Date(Date.now() + 30 * 60_000).toISOString();
    return { status: 201, body: { token: `${key}-token-${logins}`, expires_at } };
  }
  // AvaTax answers everybody, and tells whether it knows the caller.
  if (provider === "avalara" && key.startsWith("unknown"))
    return { body: { authenticated: false } };
  // A key for certain rights only, which may not read the account.
  if (key.startsWith("scoped")) return { status: 403, body: { code: "forbidden", message: "no" } };
  return { body: accountOf(provider, key) ?? ACCOUNTS[provider] ?? {} };
}

/**
 * A key may name its accounts: `good-of-acct_2`, `good-of-acme.example,+spare.example` (+: not proven).
 */
function accountOf(provider: string, key: string): unknown {
  const [, named] = /-of-([^-]+)/.exec(key) ?? [];
  if (named === undefined) return undefined;
  if (provider !== "resend") return { id: named };
  const data = named.split(",").map((domain) => ({
    name: domain.replace("+", ""),
    status: domain.startsWith("+") ? "pending" : "verified",
  }));
  return { data };
}

/** The key of a request, at the place where its provider expects it. */
function keyOf({ headers, body }: RecordedRequest): string {
  const own = headers["x-api-key"];
  if (typeof own === "string") return own;
  const [scheme, value = ""] = (headers.authorization ?? "").split(" ");
  if (scheme === "Bearer") return value;
  if (scheme === "Basic") return Buffer.from(value, "base64").toString().split(":")[1] ?? "";
  return /"access_token":"([^"]*)"/.exec(body)?.[1] ?? "";
}
