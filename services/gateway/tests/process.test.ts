import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "@jest/globals";
import { generateSigningKey } from "@workflow/rpc";
import { createTestDatabase, freePort, waitFor } from "@workflow/testkit";
import type { TestDatabase } from "@workflow/testkit";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

describe("the gateway as a process", () => {
  let child: ChildProcess | undefined;
  let testDatabase: TestDatabase | undefined;

  afterEach(async () => {
    child?.kill("SIGKILL");
    await testDatabase?.close();
  });

  function start(env: Record<string, string>): { exit: Promise<unknown[]>; output: () => string } {
    let output = "";
    const started = spawn(process.execPath, [MAIN], { env, stdio: ["ignore", "pipe", "pipe"] });
    child = started;
    for (const stream of [started.stdout, started.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    return { exit: once(started, "exit"), output: () => output };
  }

  it("ends with code 1 and names the settings that are missing", async () => {
    const { exit, output } = start({ METRICS_PORT: "0" });
    expect(await exit).toEqual([1, null]);
    expect(output()).toMatch(/DATABASE_URL/);
    expect(output()).toMatch(/INTERNAL_TOKEN_PRIVATE_KEY/);
  });

  it("serves until it is told to stop, and then ends with code 0", async () => {
    testDatabase = await createTestDatabase();
    const port = await freePort();
    const { exit, output } = start({
      PORT: String(port),
      METRICS_PORT: "0",
      DATABASE_URL: testDatabase.connectionUri,
      // Nobody answers there; what services tell of changes waits with them.
      NATS_URL: `nats://127.0.0.1:${await freePort()}`,
      INTERNAL_TOKEN_PRIVATE_KEY: generateSigningKey().privateKeyPem,
    });
    await waitFor(() => output().includes('"ready"'), { timeoutMs: 60_000 });
    const response = await fetch(`http://127.0.0.1:${port}/livez`);
    expect(response.status).toBe(200);
    await response.text();
    child?.kill("SIGTERM");
    expect(await exit).toEqual([0, null]);
  });
});
