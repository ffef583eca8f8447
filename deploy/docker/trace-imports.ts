import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { z } from "zod";
import { readJson } from "./read-json.ts";

/** What a program loads, found by following its imports. */
export interface Trace {
  /** The workspaces that it loads files of, as folders below the root: `packages/db`. */
  workspaces: ReadonlySet<string>;
  /** The npm packages that those files name. */
  packages: ReadonlySet<string>;
}

interface Workspace {
  folder: string;
  exports: Readonly<Record<string, string>>;
}

const rootSchema = z.object({ workspaces: z.array(z.string()) });
const workspaceSchema = z.object({
  name: z.string(),
  exports: z.record(z.string(), z.string()).default({}),
});

const OWN = "@workflow/";
/** Statements, over several lines as well; those for types alone are left out. */
const STATEMENT = /^(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm;
/** What is loaded later, and files of packages that are read as text. */
const CALL =
  /(?:\bimport|\bimport\.meta\.resolve|\bcreateRequire\(import\.meta\.url\)\.resolve)\(\s*"([^"]+)"/g;
/** The program of a thread. */
const THREAD = /\bnew URL\(\s*"(\.[^"]+\.[jt]s)",\s*import\.meta\.url/g;

/**
 * Follows the imports of a program of ours.
 *
 * @param root the repository
 * @param main the program, from there
 * @throws Error naming the import that leads nowhere
 */
export function traceImports(root: string, main: string): Trace {
  const known = findWorkspaces(root);
  const workspaces = new Set<string>();
  const packages = new Set<string>();
  const files = new Set([main]);
  // A set hands out what is added while it is walked through.
  for (const file of files) {
    const owner = [...known.values()].find(({ folder }) => file.startsWith(`${folder}/`));
    if (owner !== undefined) workspaces.add(owner.folder);
    for (const specifier of importsOf(readFileSync(join(root, file), "utf8"))) {
      if (specifier.startsWith("node:")) continue;
      if (specifier.startsWith(".")) files.add(fileOf(root, file, specifier));
      else if (specifier.startsWith(OWN)) files.add(exportOf(known, specifier));
      else packages.add(packageOf(specifier));
    }
  }
  return { workspaces, packages };
}

function importsOf(text: string): string[] {
  return [STATEMENT, CALL, THREAD].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, specifier = ""]) => specifier),
  );
}

function fileOf(root: string, from: string, specifier: string): string {
  const file = relative(root, join(root, dirname(from), specifier));
  if (!existsSync(join(root, file)))
    throw new Error(`${from} imports ${specifier}, which is not there`);
  return file;
}

function exportOf(known: ReadonlyMap<string, Workspace>, specifier: string): string {
  const name = packageOf(specifier);
  const subpath = specifier.slice(name.length + 1);
  const workspace = known.get(name);
  const target =
    workspace?.exports[subpath === "" ? "." : `./${subpath}`] ??
    workspace?.exports["./*"]?.replace("*", subpath);
  if (workspace === undefined || target === undefined) {
    throw new Error(`No workspace exports ${specifier}`);
  }
  return join(workspace.folder, target);
}

/** The workspaces of the repository by name. */
function findWorkspaces(root: string): ReadonlyMap<string, Workspace> {
  const { workspaces } = rootSchema.parse(readJson(join(root, "package.json")));
  const folders = workspaces.flatMap((pattern) => {
    const parent = dirname(pattern);
    if (!pattern.endsWith("/*")) return [pattern];
    return readdirSync(join(root, parent)).map((name) => join(parent, name));
  });
  const manifests = folders
    .map((folder) => ({ folder, file: join(root, folder, "package.json") }))
    .filter(({ file }) => existsSync(file));
  return new Map(
    manifests.map(({ folder, file }) => {
      const { name, exports } = workspaceSchema.parse(readJson(file));
      return [name, { folder, exports }];
    }),
  );
}

/** `@scope/name/file` and `name/file` without the file. */
function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
