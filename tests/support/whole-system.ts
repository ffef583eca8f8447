import { randomBytes, scryptSync } from "node:crypto";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { openDatabase } from "@workflow/db";
import type { Database } from "@workflow/db";
import {
  createApiKey,
  insertPreparedCompany,
  insertPreparedUser,
} from "@workflow/service-gateway/admin";
import type { Role } from "@workflow/service-gateway/admin";
import { createTestDatabase } from "@workflow/testkit";
import { callApi } from "./api-client.ts";
import { startServices } from "./in-process-services.ts";
import type { Company, Person, Services, SystemOptions, WholeSystem } from "./system-types.ts";
import { sharedDatabaseUrl, startOwnServices, startServicesApart } from "./apart/services-apart.ts";
import type { MoreApart } from "./apart/services-apart.ts";
import type { Apart } from "./apart/start-apart.ts";

export { AGENT_MODELS } from "./in-process-services.ts";
export type { Company, Gateway, Person, SystemOptions, WholeSystem } from "./system-types.ts";

/** Starts everything on free ports. Rejects, leaving nothing behind, when a part cannot start. */
export function startWholeSystem(options: SystemOptions = {}): Promise<WholeSystem> {
  if (process.env["SYSTEM"] !== "separate") return startWith(startServices, options);
  const databaseUrl = options.databaseUrl ?? sharedDatabaseUrl(options);
  return startWith(startServicesApart, options, databaseUrl);
}

/** A system of separate processes, two of most parts, which a test may kill. */
export interface ReplicatedSystem extends WholeSystem {
  apart: Apart;
}

/** Starts a system for this file alone, whatever SYSTEM says. */
export async function startReplicatedSystem(
  options: SystemOptions = {},
  more: MoreApart = {},
): Promise<ReplicatedSystem> {
  let apart: Apart | undefined;
  const system = await startWith(async (databaseUrl) => {
    const services = await startOwnServices(databaseUrl, options, more);
    ({ apart } = services);
    return services;
  }, options);
  if (apart === undefined) throw new Error("No processes were started.");
  return { ...system, apart };
}

async function startWith(
  start: (databaseUrl: string, options: SystemOptions) => Promise<Services>,
  options: SystemOptions,
  givenDatabaseUrl = options.databaseUrl,
): Promise<WholeSystem> {
  const scope = createScope();
  return scope.guard(async () => {
    const databaseUrl = givenDatabaseUrl ?? (await createOwnDatabase(scope));
    const admin = await openDatabase({
      connectionUri: databaseUrl,
      maxConnections: 2,
      applicationName: "test",
      onError: () => {},
    });
    scope.defer(() => admin.end());
    const services = await start(databaseUrl, options);
    scope.defer(() => services.stop());
    const [acme, globex] = await Promise.all([
      makeCompany(admin, "Acme"),
      makeCompany(admin, "Globex"),
    ]);
    const origin = services.origin ?? (await services.startGateway()).origin;
    let people = 0;
    return {
      origin,
      acme,
      globex,
      call: (method, path, callOptions = {}) =>
        callApi(`${origin}/api/v1${path}`, method, { key: acme.key, ...callOptions }),
      createKey: async (company, scopes, expiresAt) => {
        const given = { companyId: company.id, name: "Test", scopes: [...scopes] };
        const until = expiresAt === undefined ? {} : { expiresAt };
        return (await createApiKey(admin, { ...given, ...until })).key;
      },
      createPerson: (company, role) => {
        people += 1;
        return makePerson(admin, company, role, `${role}${people}@${MARK}people.example`);
      },
      database: admin,
      grpcAddresses: services.grpcAddresses,
      tokens: services.tokens,
      natsUrl: services.natsUrl ?? null,
      startGateway: services.startGateway,
      stop: () => scope.close(),
    };
  });
}

const PASSWORD = "correct horse battery staple";
/** Files that share a system have people of their own. */
const MARK = process.env["SYSTEM"] === "separate" ? `${randomBytes(4).toString("hex")}.` : "";
/**
 * The password of owners and people, hashed with next to no work: a stored hash says how it was made. A real hash
 * costs a quarter of a second, as does each sign-in with it. The API and the admin functions store real ones.
 */
const CHEAP_HASH = (() => {
  const salt = randomBytes(16);
  const hash = scryptSync(PASSWORD, salt, 32, { N: 2, r: 1, p: 1 });
  const [saltText, hashText] = [salt, hash].map((bytes) =>
    bytes.toString("base64").replace(/=+$/, ""),
  );
  return `$scrypt$ln=1,r=1,p=1$${saltText}$${hashText}`;
})();

async function makeCompany(database: Database, name: string): Promise<Company> {
  const owner = { email: `owner@${MARK}${name.toLowerCase()}.example`, password: PASSWORD };
  const prepared = { name, email: owner.email, passwordHash: CHEAP_HASH };
  const { companyId, userId, apiKey } = await database.transaction((transaction) =>
    insertPreparedCompany(transaction, prepared),
  );
  return { id: companyId, key: apiKey, name, owner: { ...owner, id: userId } };
}

async function makePerson(
  database: Database,
  company: Company,
  role: Role,
  email: string,
): Promise<Person> {
  const prepared = { companyId: company.id, email, role, name: email, passwordHash: CHEAP_HASH };
  const { userId } = await database.transaction((transaction) =>
    insertPreparedUser(transaction, prepared),
  );
  return { id: userId, email, password: PASSWORD };
}

/** A migrated database that is dropped with the scope. */
async function createOwnDatabase(scope: Scope): Promise<string> {
  const testDatabase = await createTestDatabase();
  scope.defer(() => testDatabase.close());
  return testDatabase.connectionUri;
}
