import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { DatabaseError } from "pg";
import { runAsAdmin, withDatabase } from "./admin.ts";
import { TEST_ADMIN_URI, TEST_TEMPLATE } from "./environment.ts";

export interface TestDatabase {
  /** A superuser's address of a fresh copy of the migrated template. */
  connectionUri: string;
  /** Drops the database and ends the sessions that still use it. */
  close(): Promise<void>;
}

const CLONE_DEADLINE_MS = 30_000;

/**
 * Creates a database for one test file, with the schemas of all services and no rows. Roles belong to
 * the whole server, so the roles of a test need unique names.
 *
 * @throws Error when Jest's global setup of this repository did not run
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  const adminUri = process.env[TEST_ADMIN_URI];
  const template = process.env[TEST_TEMPLATE];
  if (adminUri === undefined || template === undefined) {
    throw new Error("No test server: run the tests with the repository's jest.config.js.");
  }
  const name = `test_${randomBytes(6).toString("hex")}`;
  await clone(adminUri, template, name);
  return {
    connectionUri: withDatabase(adminUri, name),
    close: () => runAsAdmin(adminUri, `drop database if exists ${name} with (force)`),
  };
}

/** Workers clone at the same time. Postgres refuses while another one copies the template. */
async function clone(adminUri: string, template: string, name: string): Promise<void> {
  const objectInUse = "55006";
  const deadline = Date.now() + CLONE_DEADLINE_MS;
  for (;;) {
    try {
      // Without file_copy, every page goes through the write-ahead log, which takes 1.5 times as long.
      const statement = `create database ${name} template ${template} strategy file_copy`;
      return await runAsAdmin(adminUri, statement);
    } catch (error) {
      const busy = error instanceof DatabaseError && error.code === objectInUse;
      if (!busy || Date.now() > deadline) throw error;
      await delay(20 + Math.random() * 50);
    }
  }
}
