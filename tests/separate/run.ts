import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { createTestTokens, startPostgresServer } from "@workflow/testkit";
import { Client } from "pg";
import { migrateAll } from "../../deploy/dev/src/migrations.ts";
import { describeParts } from "../support/apart/services-apart.ts";
import { SHARED_SYSTEM } from "../support/apart/shared-system.ts";
import { startApart } from "../support/apart/start-apart.ts";
import { IN_PROCESS_ONLY } from "./in-process-only.ts";
import { SHORT } from "./short-list.ts";

/*
 * npm run test:separate [-- --short | -- <names of files>]: the end-to-end files against separate processes,
 * two of everything where there may be two, on real NATS. Files that need no options share one system.
 */

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = "tests/e2e";
const SUFFIX = ".test.ts";
const DATABASE = "shared_system";

const asked = process.argv.slice(2);
const all = (await readdir(join(ROOT, FOLDER)))
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length));
assertKnown([...Object.keys(IN_PROCESS_ONLY), ...SHORT]);
const chosen = asked.includes("--short") ? SHORT : asked.length > 0 ? asked : all;
const runnable = chosen.filter((name) => !Object.hasOwn(IN_PROCESS_ONLY, name));
const scope = createScope();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void scope.close().finally(() => process.exit(1)));
}
try {
  const environment = await startShared(scope);
  process.exitCode = await runJest(runnable, environment);
} finally {
  await scope.close();
}
report();

/** A renamed file would be left out of the run without a word, or run in vain. */
function assertKnown(names: readonly string[]): void {
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`There is no ${FOLDER} file of: ${unknown.join(", ")}`);
}

/** Starts the system that files share; returns what tells Jest of it. */
async function startShared(into: Scope): Promise<Record<string, string>> {
  const server = await startPostgresServer();
  into.defer(() => server.stop());
  const databaseUrl = await createDatabase(server.adminUri);
  const tokens = createTestTokens();
  const { origin, parts } = await startApart({ databaseUrl, tokens }, into);
  const shared = { origin, databaseUrl, keys: tokens.keys, ...describeParts(parts) };
  return { TEST_DATABASE_URL: server.adminUri, [SHARED_SYSTEM]: JSON.stringify(shared) };
}

async function createDatabase(adminUri: string): Promise<string> {
  const client = new Client({ connectionString: adminUri });
  await client.connect();
  try {
    await client.query(`create database ${DATABASE}`);
  } finally {
    await client.end();
  }
  const url = new URL(adminUri);
  url.pathname = `/${DATABASE}`;
  await migrateAll(url.toString());
  return url.toString();
}

async function runJest(
  names: readonly string[],
  environment: Record<string, string>,
): Promise<number> {
  const jest = join(ROOT, "node_modules/jest/bin/jest.js");
  const files = names.map((name) => `${FOLDER}/${name}\\${SUFFIX}$`);
  const options = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"];
  const child = spawn(process.execPath, [...options, jest, "-i", ...files], {
    cwd: ROOT,
    env: { ...process.env, ...environment, SYSTEM: "separate" },
    stdio: "inherit",
  });
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : 1;
}

function report(): void {
  const left = chosen.filter((name) => Object.hasOwn(IN_PROCESS_ONLY, name));
  const lines = left.map((name) => `  ${name}: ${IN_PROCESS_ONLY[name]}`);
  process.stdout.write(
    [
      `${runnable.length} files ran against separate processes; ${left.length} cannot:`,
      ...lines,
      "",
    ].join("\n"),
  );
}
