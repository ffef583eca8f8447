import { expect } from "@jest/globals";
import { z } from "zod";
import type { WholeSystem } from "../../support/whole-system.ts";
import type { Evidence } from "../evidence.ts";
import type { Installation } from "../installation.ts";
import { AUTHORIZED } from "../secret-settings.ts";

const withId = z.object({ id: z.string() });
const begun = z.looseObject({ connectionId: z.string(), authUrl: z.url() });

/** What providers with keys take beside `apiKey`. */
const KEYED: Readonly<Record<string, object>> = {
  rillet: {},
  resend: {},
  sendgrid: {},
  airwallex: { clientId: "our-client" },
  odoo: { domain: "example.odoo.com" },
  avalara: { accountId: "42", environment: "production", companyCode: "A" },
};
/** Moods in which providers are asked about keys that are not good. */
const BAD_MOODS = ["refuses", "down", "breaks off"] as const;

/**
 * Connects an account of every provider with keys and, by applications of our own, of those that people
 * authorize; and fails to. The connections by provider.
 */
export async function connectAccounts(
  installation: Installation,
  client: WholeSystem,
): Promise<Record<string, string>> {
  const { hide, world } = installation;
  const connections: Record<string, string> = {};
  for (const [provider, fields] of Object.entries(KEYED)) {
    const post = (name: string, more: object = {}) => {
      const body = { apiKey: hide(`${name} ${provider}`, keyOf), ...fields, ...more };
      return client.call("POST", `/connections/${provider}/api-key`, { body });
    };
    for (const mood of BAD_MOODS) {
      world.mood = mood;
      expect((await post(`key that was not taken by`)).status).toBeGreaterThanOrEqual(400);
    }
    world.mood = "good";
    const made = await post("first key of");
    expect(made.error).toBeUndefined();
    const { id } = withId.parse(made.data);
    connections[provider] = id;
    expect((await post("second key of", { connectionId: id })).error).toBeUndefined();
    const body = { apiKey: hide(`key with a wrong field of ${provider}`, keyOf), domain: 7 };
    await client.call("POST", `/connections/${provider}/api-key`, { body });
  }
  for (const provider of AUTHORIZED) {
    connections[provider] = await authorize(installation, client, provider);
  }
  for (const id of Object.values(connections)) await check(installation, client, id);
  return connections;
}

const keyOf = (core: string): string => `k/+=&"${core}`;

/** Takes a person to the provider and back; a refusal first. */
async function authorize(
  { oauth }: Installation,
  client: WholeSystem,
  provider: string,
): Promise<string> {
  const server = oauth.get(provider);
  if (server === undefined) throw new Error(`No server of ${provider}.`);
  const ask = async () => {
    const answer = await client.call("GET", `/connections/${provider}/auth-url`);
    return begun.parse(answer.data);
  };
  const { authUrl } = await ask();
  server.failures.push({ status: 400, error: "invalid_grant" });
  await follow(await server.visit(authUrl));
  const again = await ask();
  expect(await follow(await server.visit(again.authUrl))).toBe(200);
  return again.connectionId;
}

async function follow(url: URL): Promise<number> {
  const response = await fetch(url, { redirect: "manual" });
  await response.arrayBuffer();
  return response.status;
}

/** Asks about a connection and renews it, while the provider is well and while it is not. */
async function check({ world }: Installation, client: WholeSystem, id: string): Promise<void> {
  for (const mood of ["down", "refuses", "good"] as const) {
    world.mood = mood;
    for (const verb of ["verify", "refresh"]) {
      await client.call("POST", `/connections/${id}/${verb}`);
    }
  }
  const { data } = await client.call("GET", `/connections/${id}`);
  expect(data).toMatchObject({ status: "active" });
}

async function readAccounts({ world }: Installation, client: WholeSystem, id: string) {
  for (const mood of ["down", "good"] as const) {
    world.mood = mood;
    await client.call("GET", `/connections/${id}/plaid/accounts`);
  }
}

/** Connects accounts through the broker, of which the system has been told in the meantime. */
export async function connectByBroker(
  installation: Installation,
  client: WholeSystem,
): Promise<Record<string, string>> {
  const { broker } = installation;
  const connections: Record<string, string> = {};
  for (const provider of ["slack", "plaid"]) {
    const { data } = await client.call("GET", `/connections/${provider}/auth-url`);
    const { authUrl, connectionId } = begun.parse(data);
    for (const part of ["", "/status"]) await follow(new URL(authUrl + part));
    broker.trouble = "server-error";
    await follow(new URL(`${authUrl}/go`));
    broker.trouble = null;
    const response = await fetch(`${authUrl}/go`, { redirect: "manual" });
    broker.approve(response.headers.get("location") ?? "");
    for (const part of ["/status", "/done"]) await follow(new URL(authUrl + part));
    const back = `/api/v1/connections/${provider}/callback?connectionId=${connectionId}&success=true`;
    expect(await follow(new URL(back, client.origin))).toBe(200);
    connections[provider] = connectionId;
    await check(installation, client, connectionId);
  }
  await readAccounts(installation, client, connections["plaid"] ?? "");
  return connections;
}

/** Remembers the tokens that were given out, some of which are replaced later. */
export function hideTokens(evidence: Evidence, { oauth, broker }: Installation): void {
  for (const [provider, { given }] of oauth) {
    for (const { accessToken, refreshToken } of given) {
      const hide = (kind: string, token: string): void =>
        evidence.hide({ name: `${kind} token of ${provider}`, core: token.slice(3) });
      hide("access", accessToken);
      hide("refresh", refreshToken);
    }
  }
  for (const { accessToken, integration } of broker.connections) {
    const core = accessToken.replace("broker-token-", "");
    evidence.hide({ name: `token that the broker has of ${integration}`, core });
  }
}
