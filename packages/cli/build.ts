import { chmod, cp, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { z } from "zod";

const PACKAGE = import.meta.dirname;
const DIST = resolve(process.argv[2] ?? join(PACKAGE, "dist"));
const PROGRAM = "workflowctl.js";

/** The installed program: one file with everything it needs, and the facts of its package. */
const { name, version, description } = z
  .object({ name: z.string(), version: z.string(), description: z.string() })
  .parse(JSON.parse(await readFile(join(PACKAGE, "package.json"), "utf8")));
const manifest = {
  name,
  version,
  description,
  license: "UNLICENSED",
  type: "module",
  engines: { node: ">=20.12" },
  bin: { workflowctl: PROGRAM },
  files: [PROGRAM],
};

await rm(DIST, { recursive: true, force: true });
await build({
  entryPoints: [join(PACKAGE, "src/main.ts")],
  outfile: join(DIST, PROGRAM),
  bundle: true,
  platform: "node",
  target: "node20",
  format: "esm",
  define: { CLI_VERSION: JSON.stringify(version) },
  // CommonJS parts get Node's modules by `require`, which an ES module does not have.
  banner: {
    js: '#!/usr/bin/env node\nimport { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);',
  },
});
await chmod(join(DIST, PROGRAM), 0o755);
await cp(join(PACKAGE, "README.md"), join(DIST, "README.md"));
await writeFile(join(DIST, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
