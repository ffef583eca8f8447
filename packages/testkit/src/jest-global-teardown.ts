import { runAsAdmin } from "./admin.ts";
import { TEST_ADMIN_URI, TEST_TEMPLATE } from "./environment.ts";
import { keptServer } from "./running-server.ts";

/** Removes what the setup made. Copies that a test file did not close go with a server of ours. */
export default async function tearDown(): Promise<void> {
  const adminUri = process.env[TEST_ADMIN_URI];
  const template = process.env[TEST_TEMPLATE];
  if (adminUri !== undefined && template !== undefined) {
    await runAsAdmin(adminUri, `drop database if exists ${template} with (force)`);
  }
  await keptServer()?.stop();
}
