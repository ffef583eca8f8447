import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  cleanUp,
  launch,
  printedCompany,
  printedKey,
  startSystem,
  temporaryFolder,
  testSettings,
} from "../../../deploy/dev/tests/support/system.ts";
import type { StartedSystem } from "../../../deploy/dev/tests/support/system.ts";

const EXAMPLE = join(import.meta.dirname, "../run.ts");

let system: StartedSystem;

beforeAll(async () => {
  const settings = await testSettings(await temporaryFolder());
  system = await startSystem({ ...settings, OUTBOUND_ALLOW_PRIVATE: "true" });
});
afterAll(cleanUp);

function runExample(apiKey: string) {
  const COMPANY_ID = printedCompany(system.stdout());
  return launch([EXAMPLE], { API_KEY: apiKey, COMPANY_ID, BASE_URL: system.baseUrl }).ended;
}

describe("the webhooks example", () => {
  it("starts a run by a webhook and verifies the delivery of its end, each time", async () => {
    const apiKey = printedKey(system.stdout());
    for (const attempt of ["first", "second"]) {
      const { exitCode, stdout, stderr } = await runExample(apiKey);
      expect({ attempt, exitCode, stderr }).toEqual({ attempt, exitCode: 0, stderr: "" });
      const [, runId] = /^Event evt_\w+ started (run_\w+)$/m.exec(stdout) ?? [];
      expect(stdout).toContain("Sent again it is the same event\n");
      expect(stdout).toContain(`: workflow.completed of ${runId}, its signature is right\n`);
      expect(stdout).toContain("A forged one was answered 401\n");
      const output: unknown = JSON.parse(stdout.slice(stdout.indexOf("\n{")));
      expect(output).toEqual({ orderId: "ord_48213", total: 279, shop: "Corner shop" });
    }
    expect(await listEndpoints(apiKey)).toEqual([]);
  });

  it("says how to get a key when there is none", async () => {
    const { exitCode, stderr } = await runExample("");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("npm run admin -- create-api-key");
  });
});

async function listEndpoints(apiKey: string): Promise<unknown> {
  const headers = { "x-api-key": apiKey };
  const response = await fetch(`${system.baseUrl}/webhook-endpoints`, { headers });
  const { data } = Object(await response.json());
  return data;
}
