import { expect } from "@jest/globals";
import { sql } from "@workflow/db";
import type { ProviderSettings } from "@workflow/service";
import { startOAuthDouble } from "@workflow/testkit";
import type { OAuthDouble } from "@workflow/testkit";
import { z } from "zod";
import type { Answer } from "./api-client.ts";
import { startProviderDouble } from "./provider-double.ts";
import type { ProviderDouble } from "./provider-double.ts";
import { startWholeSystem } from "./whole-system.ts";
import type { Company, WholeSystem } from "./whole-system.ts";

export const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
/** A connection with the fields of the contract and errorMessage, and no others. */
export const listed = z.strictObject({
  id: z.string().regex(/^conn_[0-9a-z]{26}$/),
  name: z.string(),
  provider: z.string(),
  status: z.string(),
  externalAccountId: z.string().nullable(),
  errorMessage: z.string().nullable(),
  lastSyncedAt: timestamp.nullable(),
  createdAt: timestamp,
  updatedAt: timestamp,
});
const single = listed.extend({ metadata: z.record(z.string(), z.unknown()) });
/** The answer to connecting by a key. */
export const connected = listed.extend({ message: z.string().min(1) });

const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret" };

/** The whole system with local providers, and what tests of connections do with it. */
export interface ConnectedSystem {
  system: WholeSystem;
  double: ProviderDouble;
  oauth: OAuthDouble;
  logged: string[];
  connect: (provider: string, body: unknown, company?: Company) => Promise<Answer>;
  /** Makes a connection of a provider that takes a key and nothing else. */
  connectRillet: (apiKey?: string) => Promise<string>;
  get: (id: string) => Promise<z.output<typeof single>>;
  countConnections: (company?: Company) => Promise<number>;
  deleteAll: (company: Company) => Promise<void>;
  /** Sets a status that no call of a test can bring about. */
  setStatus: (id: string, status: string) => Promise<void>;
  /** Makes a connection as a person who authorizes it does. */
  addAuthorized: (provider: string, status: string) => Promise<string>;
  stop: () => Promise<void>;
}

/** Starts the system and the providers. */
export async function startConnectedSystem(): Promise<ConnectedSystem> {
  const logged: string[] = [];
  const double = await startProviderDouble();
  const oauth = await startOAuthDouble({ ...CLIENT, issuer: "https://accounts.google.com" });
  const google = { ...CLIENT, oauthBaseUrl: oauth.url, baseUrl: `${double.url}/google-mail` };
  const providers = new Map<string, ProviderSettings>(double.settings);
  const system = await startWholeSystem({
    providers: providers.set("google-mail", google),
    log: { write: (line) => void logged.push(line) },
  });
  const connect: ConnectedSystem["connect"] = (provider, body, company) => {
    const key = company === undefined ? {} : { key: company.key };
    return system.call("POST", `/connections/${provider}/api-key`, { ...key, body });
  };
  const connectRillet = async (apiKey = "good-key"): Promise<string> => {
    const answer = await connect("rillet", { apiKey });
    expect(answer.status).toBe(201);
    return connected.parse(answer.data).id;
  };
  return {
    system,
    double,
    oauth,
    logged,
    connect,
    connectRillet,
    ...createDatabaseCalls(system, connectRillet),
    async get(id) {
      const answer = await system.call("GET", `/connections/${id}`);
      expect(answer.status).toBe(200);
      return single.parse(answer.data);
    },
    async stop() {
      await system.stop();
      await double.close();
      await oauth.close();
    },
  };
}

/** What tests do with connections in the database, since no call of a test can. */
function createDatabaseCalls(
  { acme, database }: WholeSystem,
  connectRillet: ConnectedSystem["connectRillet"],
): Pick<ConnectedSystem, "countConnections" | "deleteAll" | "setStatus" | "addAuthorized"> {
  return {
    async countConnections(company = acme) {
      const { count } = await database.one(sql.type(z.object({ count: z.number() }))`
        select count(*) as count from integrations.connections where company_id = ${company.id}
      `);
      return count;
    },
    async deleteAll(company) {
      await database.query(sql.type(z.object({}))`
        delete from integrations.connections where company_id = ${company.id}
      `);
    },
    async setStatus(id, status) {
      await database.query(sql.type(z.object({}))`
        update integrations.connections set status = ${status} where id = ${id}
      `);
    },
    async addAuthorized(provider, status) {
      const id = await connectRillet("good-authorized");
      await database.query(sql.type(z.object({}))`
        update integrations.connections
        set provider = ${provider}, status = ${status}, external_account_id = null
        where id = ${id}
      `);
      return id;
    },
  };
}
