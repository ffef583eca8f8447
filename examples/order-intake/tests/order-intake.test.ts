import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  cleanUp,
  launch,
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
  return launch([EXAMPLE], { API_KEY: apiKey, BASE_URL: system.baseUrl }).ended;
}

describe("the order intake example", () => {
  it("prices the order, grants the discount, and prints steps and summary, each time", async () => {
    const apiKey = printedKey(system.stdout());
    const workflows: (string | undefined)[] = [];
    for (const attempt of ["first", "second"]) {
      const { exitCode, stdout, stderr } = await runExample(apiKey);
      expect({ attempt, exitCode, stderr }).toEqual({ attempt, exitCode: 0, stderr: "" });
      for (const step of ["prices", "priced", "size", "size.large.discount", "settle", "summary"]) {
        expect(stdout).toMatch(new RegExp(`^${step.replaceAll(".", "\\.")} .* success `, "m"));
      }
      const output: unknown = JSON.parse(stdout.slice(stdout.indexOf("\n{")));
      expect(output).toMatchObject({ total: 1835.8, discount: 91.79, toPay: 1744.01 });
      workflows.push(/^Workflow .*\((.*)\)$/m.exec(stdout)?.[1]);
    }
    expect(workflows[1]).toBe(workflows[0]);
  });

  it("says how to get a key when there is none", async () => {
    const { exitCode, stderr } = await runExample("");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("npm run admin -- create-api-key");
  });
});
