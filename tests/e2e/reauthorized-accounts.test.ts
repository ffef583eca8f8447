import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import type { ProviderSettings } from "@workflow/service";
import { startHttpDouble, startOAuthDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble, OAuthDouble } from "@workflow/testkit";
import { z } from "zod";
import { makeFinanceConnection } from "../support/connections.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret" };
const OWN_REALM = "4620816365";

/** What Slack's token answers bring besides tokens. */
const slackSays: Record<string, unknown> = {};
let slack: OAuthDouble;
let quickbooks: OAuthDouble;
/** The providers' APIs: the company of one realm may be read, and nobody says whose a token is. */
let api: HttpDouble;
/** What another company than the own one answers. */
let foreign: number;
let system: WholeSystem;

beforeAll(async () => {
  const basic = { ...CLIENT, clientAuth: "client_secret_basic" } as const;
  slack = await startOAuthDouble({ ...basic, pkce: false, tokenMembers: slackSays });
  quickbooks = await startOAuthDouble({ ...basic, callbackParams: { realmId: OWN_REALM } });
  api = await startHttpDouble(({ path }) => {
    if (path === "/auth.test") return { body: { ok: false, error: "internal_error" } };
    if (path.startsWith(`/v3/company/${OWN_REALM}/`)) {
      return { body: { CompanyInfo: { CompanyName: "Acme" } } };
    }
    return { status: foreign, body: { Fault: { Error: [{ code: "3100", Detail: "no" }] } } };
  });
  const settings = (double: OAuthDouble) => ({
    ...CLIENT,
    oauthBaseUrl: double.url,
    baseUrl: api.url,
  });
  system = await startWholeSystem({
    connecting: {
      providers: new Map<string, ProviderSettings>([
        ["slack", settings(slack)],
        ["quickbooks", settings(quickbooks)],
      ]),
    },
  });
});
afterAll(async () => {
  await system?.stop();
  for (const double of [slack, quickbooks, api]) await double?.close();
});
beforeEach(async () => {
  foreign = 403;
  await system.database.query(sql.type(z.object({}))`delete from integrations.connections`);
  await system.database.query(sql.type(z.object({}))`delete from integrations.revocations`);
});

const begun = z.object({ connectionId: z.string(), authUrl: z.url() });

/** Where a person who has agreed is sent back to. */
async function agree(provider: string, double: OAuthDouble) {
  const answer = await system.call("GET", `/connections/${provider}/auth-url`);
  const { connectionId, authUrl } = begun.parse(answer.data);
  return { connectionId, back: await double.visit(authUrl) };
}

async function storedOf(id: string) {
  const row = sql.type(z.object({ fields: z.string(), account: z.string().nullable() }));
  const { fields, account } = await system.database.one(row`
    select fields::text as fields, external_account_id as account
    from integrations.connections where id = ${id}
  `);
  const { data } = await system.call("GET", `/connections/${id}`);
  const { status } = z.object({ status: z.string() }).parse(data);
  return { fields: z.record(z.string(), z.string()).parse(JSON.parse(fields)), account, status };
}

it("nothing of the account before is kept when another one is authorized", async () => {
  const authorize = async (says: Record<string, unknown>) => {
    for (const name of Object.keys(slackSays)) delete slackSays[name];
    Object.assign(slackSays, says);
    const { connectionId, back } = await agree("slack", slack);
    expect((await fetch(back, { redirect: "manual" })).status).toBe(200);
    const stored = await storedOf(connectionId);
    await system.call("DELETE", `/connections/${connectionId}`);
    return { connectionId, ...stored };
  };
  const first = await authorize({ ok: true, team: { id: "T1", name: "One" }, bot_user_id: "U1" });
  expect(first).toMatchObject({
    account: "T1",
    fields: { teamId: "T1", teamName: "One", botUserId: "U1" },
  });
  const second = await authorize({ ok: true, team: { id: "T2" } });
  expect(second).toEqual({ ...first, account: "T2", fields: { teamId: "T2" } });
  const third = await authorize({ ok: true });
  expect(third).toEqual({ ...first, account: null, fields: {} });
});

/** Authorizes the Slack account of a team, or one that the provider does not name; its access token. */
async function authorizeTeam(team: string | null) {
  for (const name of Object.keys(slackSays)) delete slackSays[name];
  Object.assign(slackSays, { ok: true }, team === null ? {} : { team: { id: team } });
  const { connectionId, back } = await agree("slack", slack);
  expect((await fetch(back, { redirect: "manual" })).status).toBe(200);
  return { connectionId, accessToken: slack.given.at(-1)?.accessToken ?? "" };
}

/** Waits until all that is to be taken back was asked for, with whatever answer; who does it looks around when any connection is deleted. */
async function whenAskedBack(): Promise<void> {
  const id = await makeFinanceConnection(system, system.acme.key);
  await system.call("DELETE", `/connections/${id}`);
  const row = sql.type(z.object({ rows: z.number() }));
  await waitFor(async () => {
    const rows = await system.database.oneFirst(row`
      select count(*)::integer as rows from integrations.revocations where last_error is null
    `);
    return rows === 0;
  });
}

it.each([
  ["another one", "T-before", "T-after", true],
  ["the same one", "T-same", "T-same", false],
  ["one that nobody names", "T-known", null, false],
])(
  "access of an account in whose place %s is authorized: taken back or not",
  async (_, before, after, isTakenBack) => {
    const old = await authorizeTeam(before);
    await system.database.query(sql.type(z.object({}))`
      update integrations.connections set status = 'error' where id = ${old.connectionId}
    `);
    const current = await authorizeTeam(after);
    expect(current.connectionId).toBe(old.connectionId);
    await whenAskedBack();
    const shown = slack.requests
      .filter(({ path }) => path.includes("auth.revoke"))
      .map(({ headers }) => headers.authorization);
    expect(shown.includes(`Bearer ${old.accessToken}`)).toBe(isTakenBack);
    expect(shown).not.toContain(`Bearer ${current.accessToken}`);
    expect(await storedOf(current.connectionId)).toMatchObject({
      account: after,
      status: "active",
    });
  },
);

it("an ended connection is not brought back by an attempt that was open when it was deleted", async () => {
  const { connectionId } = await authorizeTeam("T-ended");
  const remove = () => system.call("DELETE", `/connections/${connectionId}`);
  expect(await remove()).toMatchObject({ status: 200 });
  const { connectionId: again, back } = await agree("slack", slack);
  expect(again).toBe(connectionId);
  expect(await remove()).toMatchObject({ status: 200, data: { deleted: true } });
  const late = await fetch(back, { redirect: "manual" });
  expect([late.status, await late.text()]).toEqual([400, expect.stringContaining("attempt_over")]);
  expect(await storedOf(connectionId)).toMatchObject({ status: "disconnected" });
  // Whoever may connect accounts can bring it back all the same.
  await authorizeTeam("T-ended");
  expect(await storedOf(connectionId)).toMatchObject({ status: "active" });
});

it("an account that only the way back names is the person's when the provider confirms it", async () => {
  const own = await agree("quickbooks", quickbooks);
  expect((await fetch(own.back, { redirect: "manual" })).status).toBe(200);
  expect(await storedOf(own.connectionId)).toMatchObject({
    account: OWN_REALM,
    status: "active",
    fields: { realmId: OWN_REALM, companyName: "Acme" },
  });
});

it.each([403, 503])(
  "one that a person writes into the way back is not, by an answer of %i",
  async (status) => {
    foreign = status;
    const forged = await agree("quickbooks", quickbooks);
    forged.back.searchParams.set("realmId", "1234567890");
    const answer = await fetch(forged.back, { redirect: "manual" });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(await storedOf(forged.connectionId)).toMatchObject({ account: null, status: "pending" });
  },
);
