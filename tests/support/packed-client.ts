import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const REPOSITORY = join(import.meta.dirname, "../..");
const BUILD = join(REPOSITORY, "packages/client/build.ts");
const ESBUILD = join(REPOSITORY, "node_modules/.bin/esbuild");

/** The client library as users have it: packed, and installed in an otherwise empty folder. */
export interface PackedClient {
  /** The files of the package, by their paths. */
  files: readonly string[];
  /** Puts a program into the folder and runs it with the machine's own Node; returns its output. */
  runProgram(code: string, env?: Readonly<Record<string, string>>): Promise<string>;
  /**
   * Puts a TypeScript program into the folder and checks its types in the strictest way; returns the faults.
   */
  checkTypes(code: string, compiler: "typescript" | "typescript-7"): Promise<string>;
  /** One minified file with all that a program needs, as a page loads it. */
  bundle(code: string): Promise<string>;
  remove(): Promise<void>;
}

/** Builds, packs and installs the client, which has no dependency to download. */
export async function packClient(): Promise<PackedClient> {
  const folder = await mkdtemp(join(tmpdir(), "workflow-client-"));
  const dist = join(folder, "dist");
  const home = join(folder, "home");
  await run(process.execPath, [BUILD, dist]);
  const env = ownEnvironment();
  await run("npm", ["pack", dist, "--pack-destination", folder], { cwd: folder, env });
  const [archive = ""] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
  await mkdir(home);
  await writeFile(join(home, "package.json"), '{"type":"module"}');
  const install = ["install", "--offline", "--no-audit", "--no-fund", join(folder, archive)];
  await run("npm", install, { cwd: home, env });
  const installed = join(home, "node_modules/@workflow/client");
  const files = await readdir(installed, { recursive: true });
  const write = async (name: string, code: string): Promise<string> => {
    const path = join(home, name);
    await writeFile(path, code);
    return path;
  };
  return {
    files,
    async runProgram(code, variables = {}) {
      const path = await write("program.js", code);
      const options = { cwd: home, env: { ...env, ...variables } };
      return (await run(ownNode(), [path], options)).stdout;
    },
    async checkTypes(code, compiler) {
      const path = await write("program.ts", code);
      const tsc = join(REPOSITORY, "node_modules", compiler, "bin/tsc");
      const flags =
        "--noEmit --strict --exactOptionalPropertyTypes --target es2022 --module nodenext --lib es2022,dom,dom.asynciterable";
      return run(process.execPath, [tsc, ...flags.split(" "), path], { cwd: home, env }).then(
        ({ stdout }) => stdout,
        (error: unknown) =>
          String(typeof error === "object" && error !== null && "stdout" in error && error.stdout),
      );
    },
    async bundle(code) {
      const path = await write("page.js", code);
      const flags = ["--bundle", "--minify", "--format=esm", "--platform=browser"];
      const options = { cwd: home, env, maxBuffer: 10_000_000 };
      const { stdout } = await run(ESBUILD, [path, ...flags], options);
      return stdout;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The environment without npm's variables, which tell about this repository. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !name.startsWith("npm_") && name !== "NODE_OPTIONS" && name !== "INIT_CWD",
    ),
  );
}

/**
 * The machine's own Node, which is the oldest that users may have; the project's where there is none.
 */
function ownNode(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const candidates = folders
    .filter((folder) => !folder.includes("node_modules"))
    .map((folder) => join(folder, "node"));
  return candidates.find((path) => existsSync(path)) ?? process.execPath;
}
