import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../..", import.meta.url));
/** What .dockerignore lets into the build. */
const CONTEXT = [
  "package.json",
  "package-lock.json",
  ".npmrc",
  "packages",
  "services",
  "proto",
  "deploy",
];
const LARGEST_OUTPUT = 64 * 1024 * 1024;

/** What the Dockerfile's steps make, on a machine that may have no Docker. */
export interface ImageTrees {
  /** Where the repository's files and the dependencies of production lie, and nothing else. */
  source: string;
  /** A program of Node that any user can execute. */
  node: string;
  /** The content of `/app` for a service. */
  assemble(service: string): Promise<string>;
  remove(): Promise<void>;
}

/** Copies what git knows into a clean folder and installs there as the Dockerfile does. */
export async function startBuild(): Promise<ImageTrees> {
  const folder = await mkdtemp(join(tmpdir(), "image-"));
  // Other users read what they run.
  await chmod(folder, 0o755);
  const source = join(folder, "src");
  for (const file of await filesOfContext()) {
    await mkdir(dirname(join(source, file)), { recursive: true });
    await cp(join(ROOT, file), join(source, file));
  }
  const build = (...args: readonly string[]) =>
    run("sh", ["deploy/docker/build.sh", ...args], { cwd: source, env: buildEnvironment() });
  await build("install");
  const node = join(folder, "node");
  await cp(process.execPath, node);
  await chmod(node, 0o755);
  return {
    source,
    node,
    async assemble(service) {
      const tree = join(folder, service);
      await build("assemble", service, tree);
      return tree;
    },
    async remove() {
      await run("chmod", ["-R", "u+w", folder]);
      await rm(folder, { recursive: true });
    },
  };
}

/** What git has or would take, without what .dockerignore keeps out. */
async function filesOfContext(): Promise<string[]> {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--", ...CONTEXT];
  const { stdout } = await run("git", args, { cwd: ROOT, maxBuffer: LARGEST_OUTPUT });
  const isLeftOut = (file: string) => /(^|\/)(tests|bench|dist)\//.test(file);
  return stdout.split("\n").filter((file) => file !== "" && !isLeftOut(file));
}

/** Packages come from npm's cache, which the installation of the checkout has filled. */
function buildEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...env } = process.env;
  return { ...env, npm_config_prefer_offline: "true" };
}
