import { execFile } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";

const ROOT = join(import.meta.dirname, "../../..");
const FILE = join(ROOT, "deploy/upgrades/baseline.json");
/** Packages of the project itself, beside a few of others. */
const OWN_SCOPE = "@workflow";
const run = promisify(execFile);

const baselineSchema = z.strictObject({
  commit: z.string().regex(/^[0-9a-f]{40}$/),
  migrations: z.record(z.string(), z.int()),
});

/** The commit that this tree has to stand beside, and the newest migration of each service there. */
export type Baseline = z.output<typeof baselineSchema>;

/** Reads deploy/upgrades/baseline.json; docs/ops/upgrades.md says when it changes. */
export async function readBaseline(): Promise<Baseline> {
  return baselineSchema.parse(JSON.parse(await readFile(FILE, "utf8")));
}

/** The baseline's files in a folder of their own. */
export interface BaselineTree {
  root: string;
  remove(): Promise<void>;
}

/**
 * Takes the baseline's files out of the history, with the packages that are installed here: those of the
 * project itself are the baseline's own.
 *
 * @throws Error when the history lacks the baseline
 */
export async function checkOutBaseline(): Promise<BaselineTree> {
  const { commit } = await readBaseline();
  await git("cat-file", "-e", `${commit}^{commit}`).catch((cause: unknown) => {
    const text = `The history lacks the baseline ${commit}: clone all of it (git fetch --unshallow).`;
    throw new Error(text, { cause });
  });
  const folder = await mkdtemp(join(tmpdir(), "baseline-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const archive = join(folder, "baseline.tar");
    const root = join(folder, "tree");
    await mkdir(root);
    await git("archive", "--format=tar", `--output=${archive}`, commit);
    await run("tar", ["-xf", archive, "-C", root]);
    await linkPackages(root);
    return { root, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function git(...args: readonly string[]): Promise<void> {
  await run("git", ["-C", ROOT, ...args]);
}

/** Links what is installed; links within a tree, such as those of workspaces, lead to the new tree's own. */
async function linkPackages(root: string): Promise<void> {
  const installed = join(ROOT, "node_modules");
  const linked = join(root, "node_modules");
  const [others, own] = [await readdir(installed), await readdir(join(installed, OWN_SCOPE))];
  await mkdir(join(linked, OWN_SCOPE), { recursive: true });
  const link = async (name: string): Promise<void> => {
    const source = join(installed, name);
    const isOwn = name.startsWith(`${OWN_SCOPE}/`) && (await lstat(source)).isSymbolicLink();
    await symlink(isOwn ? await readlink(source) : source, join(linked, name));
  };
  const names = [
    ...others.filter((name) => name !== OWN_SCOPE),
    ...own.map((name) => `${OWN_SCOPE}/${name}`),
  ];
  await Promise.all(names.map(link));
}
