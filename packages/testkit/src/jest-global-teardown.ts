import { runAsAdmin } from "./admin.ts";
import { TEST_ADMIN_URI, TEST_TEMPLATE } from "./environment.ts";
import { keptServer } from "./running-server.ts";

/** Removes the results of the setup. Databases that a test file did not close disappear with our own server. */
export default async function tearDown(): Promise<void> {
  const adminUri = process.env[TEST_ADMIN_URI];
  const template = process.env[TEST_TEMPLATE];
  if (adminUri !== undefined && template !== undefined) {
    await runAsAdmin(adminUri, `drop database if exists ${template} with (force)`);
  }
  await keptServer()?.stop();
}
