import { openDatabase } from "@workflow/db";
import { createUser } from "@workflow/service-gateway/admin";
import { createTestTokens } from "@workflow/testkit";
import { z } from "zod";
import { callApi } from "../support/api-client.ts";
import type { Company, WholeSystem } from "../support/whole-system.ts";
import type { Installation } from "./installation.ts";

const made = z.object({ companyId: z.string(), userId: z.string(), apiKey: z.string() });

/** Two companies with their keys. */
export interface Companies {
  acme: Company;
  globex: Company;
}

/** Makes them as an operator does. All people have one password. */
export async function makeCompanies({ admin, hide }: Installation): Promise<Companies> {
  const password = hide("password of people", (core) => `päss "${core}" wörd`);
  const makeCompany = async (name: string): Promise<Company> => {
    const email = `owner@${name.toLowerCase()}.example`;
    const command = `create-company --name ${name} --email ${email} --password-stdin`;
    const { stdout } = await admin(command, password);
    const { companyId, userId, apiKey } = made.parse(JSON.parse(stdout));
    return { id: companyId, key: apiKey, name, owner: { id: userId, email, password } };
  };
  return { acme: await makeCompany("Acme"), globex: await makeCompany("Globex") };
}

let people = 0;

/** What the helpers of other tests want, of the system that strangers run: until that is stopped. */
export async function openClient(
  { admin, settings, tap, databaseUrl }: Installation,
  { acme, globex }: Companies,
): Promise<WholeSystem> {
  const database = await openDatabase({
    connectionUri: await databaseUrl(),
    maxConnections: 2,
    applicationName: "test",
    onError: () => {},
  });
  const addressOf = (setting: string): string => settings[setting] ?? "";
  return {
    origin: tap.origin,
    acme,
    globex,
    call: (method, path, options = {}) =>
      callApi(`${tap.origin}/api/v1${path}`, method, { key: acme.key, ...options }),
    async createKey(company, scopes) {
      const words = `--company ${company.id} --name Test --scopes ${scopes.join(",")}`;
      const { stdout } = await admin(`create-api-key ${words}`);
      return z.object({ key: z.string() }).parse(JSON.parse(stdout)).key;
    },
    async createPerson(company, role) {
      people += 1;
      const person = { email: `${role}${people}@people.example`, password: acme.owner.password };
      const { userId } = await createUser(database, { ...person, companyId: company.id, role });
      return { ...person, id: userId };
    },
    database,
    grpcAddresses: {
      workflows: addressOf("WORKFLOWS_GRPC_ADDR"),
      runs: addressOf("RUNS_GRPC_ADDR"),
      tables: addressOf("TABLES_GRPC_ADDR"),
      integrations: addressOf("INTEGRATIONS_GRPC_ADDR"),
      webhooks: addressOf("WEBHOOKS_GRPC_ADDR"),
    },
    // Of nobody here: the system has keys of its own.
    tokens: createTestTokens(),
    // The helpers wait for the outboxes alone.
    natsUrl: null,
    startGateway: () => Promise.reject(new Error("This system has one gateway.")),
    stop: () => database.end(),
  };
}
