import { expect } from "@jest/globals";
import { sql } from "@workflow/db";
import type { Queryable } from "@workflow/db";
import type { ProviderSettings } from "@workflow/service";
import { startHttpDouble, startOAuthDouble } from "@workflow/testkit";
import type { OAuthDouble, OAuthDoubleOptions } from "@workflow/testkit";
import { z } from "zod";
import type { Answer } from "./api-client.ts";
import { startWholeSystem } from "./whole-system.ts";
import type { Company, WholeSystem } from "./whole-system.ts";

/** The system's application at every provider. */
export const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret" };
/** The page to which a person returns in the end. */
export const BACK = "https://app.example/settings?tab=accounts";

const begun = z.strictObject({
  connectionId: z.string().regex(/^conn_[0-9a-hjkmnp-tv-z]{26}$/),
  provider: z.string(),
  authUrl: z.url(),
  isNew: z.boolean(),
  message: z.string().min(1),
});

/** A system that connects accounts without a broker, with an authorization server for each provider. */
export interface AuthorizingSystem<Provider extends string> {
  system: WholeSystem;
  /** The provider's authorization server. */
  serverOf(provider: Provider): OAuthDouble;
  askAuthUrl(provider: string, query?: Record<string, string>, company?: Company): Promise<Answer>;
  /** Begins an authorization, which has to succeed. */
  begin(provider: Provider, query?: Record<string, string>): Promise<z.output<typeof begun>>;
  /** Takes a person through the provider's page; returns the connection's id. */
  connect(provider: Provider): Promise<string>;
  statusOf(connectionId: string): Promise<unknown>;
  /** All connections, as text. */
  snapshot(database?: Queryable): Promise<unknown>;
  /** Removes all connections, and lets all servers answer as usual. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the system. An address has at most 60 callbacks a minute, so a file with many of them needs a system, and
 * with it a gateway, of its own.
 *
 * @param providers how the authorization server of each behaves
 * @param options further providers, and how long one may take to answer where one is to hang
 */
export async function startAuthorizing<Provider extends string>(
  providers: Readonly<Record<Provider, Partial<OAuthDoubleOptions>>>,
  {
    more = {},
    answerTimeoutMs,
  }: { more?: Readonly<Record<string, ProviderSettings>>; answerTimeoutMs?: number } = {},
): Promise<AuthorizingSystem<Provider>> {
  const api = await startHttpDouble(({ path }) => ({
    body: path.startsWith("/services/data") ? SALESFORCE_ORGANIZATION : GOOGLE_PROFILE,
  }));
  const servers = await startServers(providers);
  const settings = new Map<string, ProviderSettings>(Object.entries(more));
  for (const [name, { url }] of servers) {
    settings.set(name, { ...CLIENT, oauthBaseUrl: url, baseUrl: api.url });
  }
  const serverOf = (provider: Provider): OAuthDouble => {
    const server = servers.get(provider);
    if (server === undefined) throw new Error(`No server was started for ${provider}.`);
    return server;
  };
  const system = await startWholeSystem({
    connecting: { answerTimeoutMs, providers: settings },
  });
  const askAuthUrl: AuthorizingSystem<Provider>["askAuthUrl"] = (
    provider,
    query = {},
    company = system.acme,
  ) => {
    const path = `/connections/${provider}/auth-url?${new URLSearchParams(query).toString()}`;
    return system.call("GET", path, { key: company.key });
  };
  const begin: AuthorizingSystem<Provider>["begin"] = async (provider, query) => {
    const answer = await askAuthUrl(provider, query);
    expect(answer).toMatchObject({ status: 200, error: undefined });
    return begun.parse(answer.data);
  };
  return {
    system,
    serverOf,
    askAuthUrl,
    begin,
    async connect(provider) {
      const { authUrl, connectionId } = await begin(provider);
      const back = await comeBack(await serverOf(provider).visit(authUrl));
      expect(back).toMatchObject({ status: 200, body: { data: { status: "active" } } });
      return connectionId;
    },
    statusOf: (connectionId) => statusOf(system, connectionId),
    snapshot: (database = system.database) => readConnections(database),
    async reset() {
      await deleteAll(system.database);
      for (const double of servers.values()) forgive(double);
    },
    async stop() {
      await system.stop();
      for (const double of servers.values()) await double.close();
      await api.close();
    },
  };
}

const SALESFORCE_ORGANIZATION = { records: [{ Id: "00D000000000001EAA", Name: "Acme" }] };
const GOOGLE_PROFILE = { emailAddress: "ada@example.com" };

async function startServers(
  providers: Readonly<Record<string, Partial<OAuthDoubleOptions>>>,
): Promise<ReadonlyMap<string, OAuthDouble>> {
  const servers = new Map<string, OAuthDouble>();
  for (const [name, options] of Object.entries(providers)) {
    servers.set(name, await startOAuthDouble({ ...CLIENT, ...options }));
  }
  return servers;
}

async function statusOf(system: WholeSystem, connectionId: string): Promise<string> {
  const { data } = await system.call("GET", `/connections/${connectionId}`);
  return z.looseObject({ status: z.string() }).parse(data).status;
}

/** Deletes all connections, and what is left to be revoked of them. */
async function deleteAll(database: Queryable): Promise<void> {
  await database.query(sql.type(z.object({}))`delete from integrations.connections`);
  await database.query(sql.type(z.object({}))`delete from integrations.revocations`);
}

function readConnections(database: Queryable): Promise<unknown> {
  return database.any(sql.type(z.object({ row: z.string() }))`
    select to_jsonb(connection)::text as "row"
    from integrations.connections as connection
    order by id
  `);
}

/** Lets an authorization server answer as usual, and forget its requests. */
function forgive(double: OAuthDouble): void {
  double.consent = "allow";
  double.trouble = null;
  double.failures.length = 0;
  double.requests.length = 0;
}

/** The answer to a callback: a redirect, or a body. */
export async function comeBack(url: URL | string) {
  const response = await fetch(url, { redirect: "manual" });
  const location = response.headers.get("location");
  const text = await response.text();
  const body: unknown = text === "" ? null : JSON.parse(text);
  return { status: response.status, location, headers: response.headers, body };
}
