import { execFile } from "node:child_process";
import { cp, glob, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";

const PACKAGE = import.meta.dirname;
const DIST = resolve(process.argv[2] ?? join(PACKAGE, "dist"));
const COMPILER = join(PACKAGE, "../../node_modules/typescript-7/bin/tsc");

/** What users install: the folder is a package of its own, whose manifest names compiled files. */
const { name, version, description } = z
  .object({ name: z.string(), version: z.string(), description: z.string() })
  .parse(JSON.parse(await readFile(join(PACKAGE, "package.json"), "utf8")));
const manifest = {
  name,
  version,
  description,
  license: "UNLICENSED",
  type: "module",
  engines: { node: ">=20" },
  sideEffects: false,
  files: ["**/*.js", "**/*.d.ts"],
  exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
  types: "./index.d.ts",
};

await rm(DIST, { recursive: true, force: true });
await promisify(execFile)(process.execPath, [COMPILER, "-p", PACKAGE, "--outDir", DIST]);
// The compiler rewrites the paths of imports in code, and leaves those in declarations.
for await (const file of glob(join(DIST, "**/*.d.ts"))) {
  const declarations = await readFile(file, "utf8");
  await writeFile(
    file,
    declarations.replaceAll(/((?:from |import\()"\.{1,2}\/[^"]+)\.ts"/g, '$1.js"'),
  );
}
await cp(join(PACKAGE, "README.md"), join(DIST, "README.md"));
await writeFile(join(DIST, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
