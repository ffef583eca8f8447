import { join } from "node:path";
import { z } from "zod";
import { readJson } from "./read-json.ts";

const names = z.record(z.string(), z.string()).default({});
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dependencies: names,
      optionalDependencies: names,
      peerDependencies: names,
      link: z.boolean().default(false),
      dev: z.boolean().default(false),
      optional: z.boolean().default(false),
      devOptional: z.boolean().default(false),
    }),
  ),
});
type Lock = z.output<typeof lockSchema>["packages"];
type Entry = Lock[string];

const FOLDER = "node_modules/";

/**
 * The folders of packages and of everything that they depend on, as package-lock.json has them:
 * `node_modules/express`, `node_modules/a/node_modules/b`.
 *
 * @param root the repository
 * @param direct the packages by name, as the root has them
 * @throws Error naming a package that is not locked
 */
export function lockedPackages(root: string, direct: Iterable<string>): ReadonlySet<string> {
  const lock = lockSchema.parse(readJson(join(root, "package-lock.json"))).packages;
  const folders = new Set<string>();
  for (const name of direct) {
    const folder = resolve(lock, "", name);
    if (folder === undefined) throw new Error(`package-lock.json has no ${name}`);
    folders.add(folder);
  }
  // A set hands out what is added while it is walked through.
  for (const folder of folders) {
    const { dependencies, optionalDependencies, peerDependencies } = lock[folder] ?? {};
    for (const name of Object.keys({
      ...dependencies,
      ...optionalDependencies,
      ...peerDependencies,
    })) {
      const dependency = resolve(lock, folder, name);
      // What is neither optional nor for development npm has installed.
      if (dependency !== undefined) folders.add(dependency);
    }
  }
  return folders;
}

/** Where Node finds a package from a folder: in its own `node_modules`, else in those above. */
function resolve(lock: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf(FOLDER) - 1, 0))) {
    const candidate = folder === "" ? `${FOLDER}${name}` : `${folder}/${FOLDER}${name}`;
    const entry = lock[candidate];
    if (entry !== undefined && isInstalled(entry)) return candidate;
    if (folder === "") return undefined;
  }
}

function isInstalled({ link, dev, optional, devOptional }: Entry): boolean {
  return !link && !dev && !optional && !devOptional;
}
