import { describe, expect, it } from "@jest/globals";
import {
  buildLogin,
  buildVerification,
  findProvider,
  judgeVerification,
  loginOf,
  readLogin,
} from "../src/index.ts";
import type { ProviderAnswer, ProviderManifest } from "../src/index.ts";
import { PROVIDER_CASES } from "./cases/index.ts";

const NOW_MS = Date.parse("2026-11-22T12:00:00Z");

function manifest(id: string): ProviderManifest {
  const provider = findProvider(id);
  if (provider === undefined) throw new Error(`no provider ${id}`);
  return provider;
}

function accessTo(id: string) {
  const cases = PROVIDER_CASES.find(({ provider }) => provider === id);
  if (cases === undefined) throw new Error(`no cases of ${id}`);
  return { fields: cases.fields, credentials: cases.credentials };
}

/** The requests that verify keys: reads that every valid key may make. */
const QUESTIONS = [
  ["airwallex", "GET", "https://api.airwallex.com/api/v1/account", undefined],
  ["avalara", "GET", "https://sandbox-rest.avatax.com/api/v2/utilities/ping", undefined],
  ["odoo", "POST", "https://mycompany.odoo.com/json/2/res.users/context_get", "{}"],
  ["rillet", "GET", "https://api.rillet.com/organizations/self", undefined],
] as const;

/** Answers, and the verdict on the keys. */
const ANSWERS: readonly (readonly [string, string, Partial<ProviderAnswer>, object])[] = [
  ["airwallex", "an account", { body: { id: "acct_1" } }, { is: "good", accountId: "acct_1" }],
  [
    "airwallex",
    "a key without the right to read the account: the login has proven it",
    { status: 403, body: { code: "unauthorized", message: "Permission denied" } },
    { is: "good", accountId: null },
  ],
  [
    "airwallex",
    "a token that is refused",
    { status: 401, body: { code: "unauthorized", message: "Access denied" } },
    { is: "bad", code: "unauthorized" },
  ],
  [
    "avalara",
    "a ping that knows who asks",
    { body: { authenticated: true, authenticatedAccountId: 123456789 } },
    { is: "good", accountId: "123456789" },
  ],
  ["avalara", "a ping that does not", { body: { authenticated: false } }, { is: "bad" }],
  ["odoo", "a user's context", { body: { lang: "en_US", uid: 2 } }, { is: "good" }],
  [
    "odoo",
    "a key that is refused",
    { status: 401, body: { name: "werkzeug.exceptions.Unauthorized", message: "Invalid apikey" } },
    { is: "bad", message: "Invalid apikey" },
  ],
  ["odoo", "a version without JSON-2", { status: 404, body: null }, { is: "bad" }],
  ["rillet", "an organization", { body: { id: "org_1" } }, { is: "good", accountId: "org_1" }],
  [
    "sendgrid",
    "an account without credits, which says nothing of the key",
    { status: 401, body: { errors: [{ message: "Maximum credits exceeded" }] } },
    { is: "unknown" },
  ],
  [
    "sendgrid",
    "a key that is refused",
    { status: 401, body: { errors: [{ message: "authorization required" }] } },
    { is: "bad" },
  ],
  ["rillet", "a refusal", { status: 401, body: { title: "Unauthorized" } }, { is: "bad" }],
  ...["airwallex", "avalara", "odoo", "rillet"].flatMap((id) => [
    [id, "too many calls", { status: 429, body: null }, { is: "unknown" }] as const,
    [id, "an outage", { status: 503, body: null }, { is: "unknown" }] as const,
  ]),
];

describe("keys are verified", () => {
  it.each(QUESTIONS)("%s: %s %s", (id, method, url, body) => {
    const request = buildVerification(manifest(id), accessTo(id));
    expect(request).toMatchObject({ method, url, body });
    const signature = PROVIDER_CASES.find(({ provider }) => provider === id)?.signature;
    expect(request?.headers).toMatchObject(signature?.headers ?? {});
  });

  it.each(ANSWERS)("%s: %s", (id, _, answer, verdict) => {
    const whole = { status: 200, headers: {}, body: null, ...answer };
    expect(judgeVerification(manifest(id), whole, NOW_MS)).toMatchObject(verdict);
  });

  it("but not those of our own application, which has none", () => {
    expect(buildVerification(manifest("finance"), { fields: {}, credentials: {} })).toBeNull();
  });
});

describe("Airwallex' login", () => {
  const airwallex = manifest("airwallex");
  const login = loginOf(airwallex);
  if (login === undefined) throw new Error("no login");

  it("sends the keys in headers, and no token", () => {
    const { fields } = accessTo("airwallex");
    const access = { fields, credentials: { apiKey: "key", clientId: "client" } };
    const request = buildLogin(airwallex, login, access);
    expect(request).toMatchObject({
      method: "POST",
      url: "https://api.airwallex.com/api/v1/authentication/login",
    });
    expect(request.headers).toMatchObject({ "x-client-id": "client", "x-api-key": "key" });
    expect(request.headers).not.toHaveProperty("authorization");
  });

  it("gives a token with the time that it lives to", () => {
    const body = { token: "t", expires_at: "2026-11-22T12:30:00+0000" };
    const expiresAtMs = NOW_MS + 30 * 60_000;
    const answer = { status: 201, headers: {}, body };
    expect(readLogin(login, answer, NOW_MS)).toEqual({ accessToken: "t", expiresAtMs });
    const timeless = { ...answer, body: { token: "t" } };
    expect(readLogin(login, timeless, NOW_MS)).toEqual({ accessToken: "t", expiresAtMs });
  });
});
