import { describe, expect, it } from "@jest/globals";
import { buildVerification, findProvider, judgeVerification } from "../src/index.ts";
import type { Verdict } from "../src/index.ts";
import { PROVIDER_CASES } from "./cases/index.ts";

/** The request, and the verdict that each answer gives on the credentials. */
const asked: readonly {
  id: string;
  request: string;
  answers: readonly (readonly [what: string, status: number, body: unknown, verdict: object])[];
}[] = [
  {
    id: "github",
    request: "GET https://api.github.com/user",
    answers: [
      ["the user", 200, { id: 1, login: "octocat" }, good("1", {})],
      ["a bad token", 401, { message: "Bad credentials" }, { is: "bad" }],
    ],
  },
  {
    id: "google-mail",
    request: "GET https://gmail.googleapis.com/gmail/v1/users/me/profile",
    answers: [
      [
        "the mailbox",
        200,
        { emailAddress: "me@example.com", messagesTotal: 1 },
        good("me@example.com", { emailAddress: "me@example.com" }),
      ],
      ["a bad token", 401, { error: { status: "UNAUTHENTICATED" } }, { is: "bad" }],
      ["a limit", 403, { error: { errors: [{ reason: "rateLimitExceeded" }] } }, { is: "unknown" }],
    ],
  },
  {
    id: "plaid",
    request: "POST https://production.plaid.com/item/get",
    answers: [
      ["the Item", 200, { item: { item_id: "i1", error: null } }, good("i1", {})],
      [
        "an Item whose bank wants a new sign-in",
        200,
        { item: { item_id: "i1", error: { error_code: "ITEM_LOGIN_REQUIRED" } } },
        { is: "bad", code: "ITEM_LOGIN_REQUIRED" },
      ],
      [
        "an Item whose bank is down",
        200,
        { item: { item_id: "i1", error: { error_code: "INSTITUTION_DOWN" } } },
        { is: "unknown", code: "INSTITUTION_DOWN" },
      ],
      ["a bad token", 400, { error_code: "INVALID_ACCESS_TOKEN" }, { is: "bad" }],
      ["bad keys of ours", 400, { error_code: "INVALID_API_KEYS" }, { is: "unknown" }],
    ],
  },
  {
    id: "resend",
    request: "GET https://api.resend.com/domains",
    answers: [
      ["the domains", 200, { data: [] }, good(null, {})],
      ["a key for sending only", 401, { name: "restricted_api_key" }, good(null, {})],
      ["a bad key", 403, { name: "invalid_api_key" }, { is: "bad" }],
    ],
  },
  {
    id: "sendgrid",
    request: "GET https://api.sendgrid.com/v3/scopes",
    answers: [
      ["the key's scopes", 200, { scopes: ["mail.send"] }, good(null, {})],
      ["a bad key", 401, { errors: [{ message: "authorization required" }] }, { is: "bad" }],
    ],
  },
  {
    id: "slack",
    request: "POST https://slack.com/api/auth.test",
    answers: [
      [
        "the workspace",
        200,
        { ok: true, team_id: "T1", team: "Acme", user_id: "U1" },
        good("T1", { teamId: "T1", teamName: "Acme", botUserId: "U1" }),
      ],
      ["a bad token", 200, { ok: false, error: "invalid_auth" }, { is: "bad" }],
      ["a fault", 200, { ok: false, error: "internal_error" }, { is: "unknown" }],
    ],
  },
  {
    id: "stripe",
    request: "GET https://api.stripe.com/v1/account",
    answers: [
      ["the account", 200, { id: "acct_1", object: "account" }, good("acct_1", {})],
      ["a bad key", 401, { error: { type: "invalid_request_error" } }, { is: "bad" }],
      ["a fault", 503, null, { is: "unknown" }],
    ],
  },
];

function good(accountId: string | null, fields: Record<string, string>): Verdict {
  return { is: "good", accountId, fields };
}

describe.each(asked)("the verification of $id", ({ id, request, answers }) => {
  const provider = findProvider(id);
  const cases = PROVIDER_CASES.find((one) => one.provider === id);
  if (provider === undefined || cases === undefined) throw new Error(`no provider ${id}`);

  it("asks with the connection's credentials", () => {
    const made = buildVerification(provider, cases);
    expect(`${made?.method} ${made?.url}`).toBe(request);
    expect(made?.headers).toMatchObject(cases.signature.headers ?? {});
    expect(JSON.parse(made?.body ?? "{}")).toEqual(cases.signature.json ?? {});
  });

  it.each(answers)("is answered with %s", (_, status, body, verdict) => {
    expect(judgeVerification(provider, { status, headers: {}, body }, 0)).toMatchObject(verdict);
  });
});
