import { COMPILE_CACHE, TEST_ADMIN_URI, TEST_TEMPLATE } from "./environment.ts";
import { startPostgresServer } from "./postgres-server.ts";
import { keepServer } from "./running-server.ts";
import { createTemplateDatabase } from "./template-database.ts";

/** Starts Postgres once for all test files, and migrates the database that they copy. */
export default async function setUp(): Promise<void> {
  // Each system that a worker starts has threads, which Jest does not load: half of their start is compiling.
  Object.assign(process.env, COMPILE_CACHE);
  const server = await startPostgresServer();
  keepServer(server);
  try {
    process.env[TEST_TEMPLATE] = await createTemplateDatabase(server.adminUri);
    process.env[TEST_ADMIN_URI] = server.adminUri;
  } catch (error) {
    // Jest runs no teardown after a setup that failed.
    await server.stop();
    throw error;
  }
}
