import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, it } from "@jest/globals";
import { freePort } from "@workflow/testkit";
import { cleanUp, startSystem, temporaryFolder, testSettings } from "./support/system.ts";

afterAll(cleanUp);

it("npm start says which settings have no effect, and serves metrics to its own machine only", async () => {
  const dataDir = await temporaryFolder();
  const metricsPort = await freePort();
  const given = {
    RESTATE_ADMIN_URL: "http://localhost:1/hidden",
    STRIPE_WEBHOOK_SECRET: "whsec_hidden",
    WEBHOOK_REQUIRE_SIGNATURE: "true",
    AIRWALLEX_BASE_URL: "http://localhost:1/hidden",
    RESTATE_INGRESS_URL: "http://localhost:1/hidden",
    RUNS_ROLE: "api",
  };
  const system = await startSystem({
    ...(await testSettings(dataDir)),
    ...given,
    METRICS_PORT: String(metricsPort),
    RATE_LIMIT_WRITE: "",
  });
  const metrics = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  expect(await metrics.text()).toContain("gateway_http_request_duration_seconds");
  // Every address of this kind is this machine's; only the one named is listened on.
  await expect(fetch(`http://127.0.0.2:${metricsPort}/metrics`)).rejects.toThrow();
  // The API's own port, which is everybody's, has none (D55).
  const atGateway = await fetch(new URL("/metrics", system.baseUrl));
  expect(atGateway.status).toBe(404);
  await atGateway.text();
  system.child.kill("SIGTERM");
  const { exitCode, stderr } = await system.ended;

  const lines = [
    "RESTATE_ADMIN_URL is set, but this version does not run on Restate yet.",
    "RESTATE_INGRESS_URL is set, but this version does not run on Restate yet.",
    "RUNS_ROLE is set, but npm start always runs both halves of the runs service.",
  ];
  expect(exitCode).toBe(0);
  expect(stderr.trim().split("\n").toSorted()).toEqual(lines);
  const log = await readFile(join(dataDir, "logs", "service.log"), "utf8");
  const warned = log
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line))
    .filter((line) => JSON.stringify(line).includes('"service":"settings"'));
  expect(warned).toHaveLength(lines.length);
  for (const msg of lines) {
    expect(warned).toContainEqual(expect.objectContaining({ level: "warn", msg }));
  }
  expect(log + stderr).not.toContain("hidden");
});
