import { constants } from "node:fs";
import { access, mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasPostgresBinaries, startLocalPostgres } from "@workflow/local-postgres";
import { hasDocker } from "./docker.ts";

/** A server for one test run. */
export interface PostgresServer {
  /** A superuser's address. */
  adminUri: string;
  stop(): Promise<void>;
}

const MAX_CONNECTIONS = "300";

/**
 * Postgres for tests: `TEST_DATABASE_URL` when set, else the binaries that npm ships, else Docker.
 *
 * @throws Error when there is none of the three
 */
export async function startPostgresServer(): Promise<PostgresServer> {
  const given = process.env["TEST_DATABASE_URL"];
  if (given !== undefined && given !== "") return { adminUri: given, stop: async () => {} };
  if (hasPostgresBinaries()) return startFromBinaries();
  if (await hasDocker()) return startInDocker();
  throw new Error(
    "Tests need Postgres: set TEST_DATABASE_URL to a superuser's address, install the optional " +
      "npm dependencies, or start Docker.",
  );
}

async function startFromBinaries(): Promise<PostgresServer> {
  const folder = (await hasRoomInMemory()) ? MEMORY_FOLDER : tmpdir();
  const dataDir = await mkdtemp(join(folder, "workflow-test-postgres-"));
  const server = await startLocalPostgres({
    dataDir,
    durable: false,
    settings: { max_connections: MAX_CONNECTIONS },
  });
  return {
    adminUri: server.connectionUri,
    stop: async () => {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The folder that Linux keeps in memory. */
const MEMORY_FOLDER = "/dev/shm";
/** The required free memory; all test files together use some 1 GiB at a time. */
const MEMORY_BYTES_MIN = 4 * 1024 ** 3;

/**
 * Whether the memory folder has room. Each test database is a thousand files, created and removed
 * within seconds. ext4 needs 40 % of the tests' time for that, because it searches for an inode that
 * was not in use just before.
 */
async function hasRoomInMemory(): Promise<boolean> {
  try {
    await access(MEMORY_FOLDER, constants.W_OK);
    const { bavail, bsize } = await statfs(MEMORY_FOLDER);
    return bavail * bsize >= MEMORY_BYTES_MIN;
  } catch {
    // Some systems have no such folder.
    return false;
  }
}

async function startInDocker(): Promise<PostgresServer> {
  const { PostgreSqlContainer } = await import("@testcontainers/postgresql");
  const container = await new PostgreSqlContainer("postgres:18-alpine")
    .withCommand(["-c", `max_connections=${MAX_CONNECTIONS}`, "-c", "fsync=off"])
    .start();
  return {
    adminUri: container.getConnectionUri(),
    stop: async () => {
      await container.stop();
    },
  };
}
