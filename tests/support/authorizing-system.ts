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

/** Our application at every provider of the system. */
export const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret" };
/** Where a person wants to be in the end. */
export const BACK = "https://app.example/settings?tab=accounts";

const begun = z.strictObject({
  connectionId: z.string().regex(/^conn_[0-9a-hjkmnp-tv-z]{26}$/),
  provider: z.string(),
  authUrl: z.url(),
  isNew: z.boolean(),
  message: z.string().min(1),
});

/** A system whose accounts are connected by itself, with an authorization server for each provider. */
export interface AuthorizingSystem<Provider extends string> {
  system: WholeSystem;
  /** The provider's authorization server. */
  serverOf(provider: Provider): OAuthDouble;
  askAuthUrl(provider: string, query?: Record<string, string>, company?: Company): Promise<Answer>;
  /** Begins an authorization, which has to succeed. */
  begin(provider: Provider, query?: Record<string, string>): Promise<z.output<typeof begun>>;
  /** Takes a person through the provider's page; the connection's id. */
  connect(provider: Provider): Promise<string>;
  statusOf(connectionId: string): Promise<unknown>;
  /** All connections, as text. */
  snapshot(database?: Queryable): Promise<unknown>;
  /** Before a test: no connections, and servers that answer as they should. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts it. Of an address there are at most 60 callbacks a minute, so tests that make many begin a system,
 * and with it a gateway, of their own.
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
  const api = await startHttpDouble(({ path }) =>
    path.startsWith("/services/data")
      ? { body: { records: [{ Id: "00D000000000001EAA", Name: "Acme" }] } }
      : { body: { emailAddress: "ada@example.com" } },
  );
  const servers = new Map<string, OAuthDouble>();
  const settings = new Map<string, ProviderSettings>(Object.entries(more));
  for (const name in providers) {
    const server = await startOAuthDouble({ ...CLIENT, ...providers[name] });
    servers.set(name, server);
    settings.set(name, { ...CLIENT, oauthBaseUrl: server.url, baseUrl: api.url });
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
    async statusOf(connectionId) {
      const { data } = await system.call("GET", `/connections/${connectionId}`);
      return z.looseObject({ status: z.string() }).parse(data).status;
    },
    snapshot: (database = system.database) =>
      database.any(sql.type(z.object({ row: z.string() }))`
        select to_jsonb(connection)::text as "row"
        from integrations.connections as connection
        order by id
      `),
    async reset() {
      await system.database.query(sql.type(z.object({}))`delete from integrations.connections`);
      await system.database.query(sql.type(z.object({}))`delete from integrations.revocations`);
      for (const double of servers.values()) {
        double.consent = "allow";
        double.trouble = null;
        double.failures.length = 0;
        double.requests.length = 0;
      }
    },
    async stop() {
      await system.stop();
      for (const double of servers.values()) await double.close();
      await api.close();
    },
  };
}

/** What comes of a callback: a redirect, or the body. */
export async function comeBack(url: URL | string) {
  const response = await fetch(url, { redirect: "manual" });
  const location = response.headers.get("location");
  const text = await response.text();
  const body: unknown = text === "" ? null : JSON.parse(text);
  return { status: response.status, location, headers: response.headers, body };
}
