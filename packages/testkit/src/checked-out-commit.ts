import { execFile } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../../..");
const LOCK_FILE = "package-lock.json";
/** The scope of the project's own packages. */
const OWN_SCOPE = "@workflow";
const run = promisify(execFile);

/** A commit's files in a folder of their own, with the packages that they need. */
export interface CheckedOutCommit {
  root: string;
  remove(): Promise<void>;
}

export interface CheckOutOptions {
  /** The commit's hash, or another name of it in the history. */
  commit: string;
  /**
   * For a commit with another lock file: `own` installs its packages, `of this tree` uses the present ones.
   */
  packages: "own" | "of this tree";
}

/**
 * Extracts a commit's files from the history, and leaves no trace in the repository. Installed packages are linked;
 * the project's own packages are the commit's.
 */
export async function checkOutCommit(options: CheckOutOptions): Promise<CheckedOutCommit> {
  const { commit, packages } = options;
  const folder = await mkdtemp(join(tmpdir(), "commit-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const archive = join(folder, "files.tar");
    const root = join(folder, "tree");
    await mkdir(root);
    await run("git", ["-C", ROOT, "archive", "--format=tar", `--output=${archive}`, commit]);
    await run("tar", ["-xf", archive, "-C", root]);
    await rm(archive);
    if (packages === "own" && !(await hasLockFileOf(root))) {
      await run("sh", [join(root, "deploy/dev/install.sh")]);
    } else {
      await linkPackages(root);
    }
    return { root, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function hasLockFileOf(root: string): Promise<boolean> {
  const [here, there] = [
    await readFile(join(ROOT, LOCK_FILE)),
    await readFile(join(root, LOCK_FILE)),
  ];
  return here.equals(there);
}

/** Links installed packages. Links within a tree, such as workspaces, lead to the new tree. */
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
