import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { startLocalPostgres } from "@workflow/local-postgres";
import type { LocalPostgres } from "@workflow/local-postgres";
import { Client } from "pg";
import {
  cleanUp,
  printedKey,
  startSystem,
  temporaryFolder,
  testSettings,
} from "./support/system.ts";

const SCRIPTS = join(import.meta.dirname, "../../postgres");
const SERVICES = ["gateway", "workflows", "runs", "tables", "integrations", "webhooks"];
const TIMEOUT_MS = 120_000;

let postgres: LocalPostgres;
/** The owner's address, made as deploy/postgres says. */
let ownerUrl: string;

beforeAll(async () => {
  postgres = await startLocalPostgres({
    dataDir: join(await temporaryFolder(), "data"),
    durable: false,
  });
  await runScript(postgres.connectionUri, "owner.sql", ["password"]);
  ownerUrl = urlOf("workflow_owner", "password");
}, TIMEOUT_MS);

afterAll(async () => {
  await postgres.stop();
  await cleanUp();
});

function urlOf(login: string, password: string): string {
  const url = new URL(postgres.connectionUri);
  url.username = login;
  url.password = password;
  url.pathname = "/workflow";
  return url.toString();
}

async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs a script like psql, each variable standing for its own name. */
async function runScript(url: string, name: string, variables: string[]): Promise<void> {
  let text = (await readFile(join(SCRIPTS, name), "utf8")).replaceAll(/^--.*$/gm, "");
  for (const variable of variables) text = text.replaceAll(`:${variable}`, `'${variable}'`);
  const statements = text.split(";");
  await withClient(url, async (client) => {
    for (const statement of statements) if (statement.trim() !== "") await client.query(statement);
  });
}

describe("a database of one's own", () => {
  it(
    "serves npm start with its owner's login alone, which acts as the role of each service",
    async () => {
      const settings = await testSettings(await temporaryFolder());
      const system = await startSystem({ ...settings, DATABASE_URL: ownerUrl });
      expect(await system.statusOf("/workflows", printedKey(system.stdout()))).toBe(200);
      const { rows } = await withClient(postgres.connectionUri, (client) =>
        client.query<{ login: string }>(
          `select distinct usename::text as login from pg_stat_activity
           where backend_type = 'client backend' and datname = 'workflow'`,
        ),
      );
      expect(rows).toEqual([{ login: "workflow_owner" }]);
      system.child.kill("SIGTERM");
      expect(await system.ended).toMatchObject({ exitCode: 0, stderr: "" });

      // Logins of their own keep the services apart also from one another.
      await runScript(ownerUrl, "logins.sql", SERVICES);
      for (const service of SERVICES) {
        await withClient(urlOf(`${service}_login`, service), async (client) => {
          for (const other of SERVICES) {
            const becoming = client.query(`set role workflow_${other}`);
            if (other === service) await expect(becoming).resolves.toBeDefined();
            else await expect(becoming).rejects.toMatchObject({ code: "42501" });
          }
          await client.query("reset role");
          await expect(client.query("set role workflow_owner")).rejects.toMatchObject({
            code: "42501",
          });
        });
      }
    },
    TIMEOUT_MS,
  );
});
