import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  cleanUp,
  launch,
  printedCompany,
  runAdmin,
  startSystem,
  temporaryFolder,
  testSettings,
} from "../../../deploy/dev/tests/support/system.ts";
import type { StartedSystem, TestSettings } from "../../../deploy/dev/tests/support/system.ts";
import { freePort } from "@workflow/testkit";

const EXAMPLE = join(import.meta.dirname, "../run.ts");

let settings: TestSettings;
let system: StartedSystem;

beforeAll(async () => {
  settings = {
    ...(await testSettings(await temporaryFolder())),
    RUNS_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
  };
  system = await startSystem(settings);
});
afterAll(cleanUp);

async function mintToken(scopes: string): Promise<string> {
  const company = printedCompany(system.stdout());
  const { stdout } = await runAdmin(settings, `mint-token --company ${company} --scopes ${scopes}`);
  return stdout.trim();
}

function runExample(token: string) {
  const { WORKFLOWS_GRPC_ADDR = "", RUNS_GRPC_ADDR = "" } = settings;
  return launch([EXAMPLE], { TOKEN: token, WORKFLOWS_GRPC_ADDR, RUNS_GRPC_ADDR }).ended;
}

describe("the gRPC example", () => {
  it("creates, activates and runs a workflow with a minted token, and prints the output", async () => {
    const token = await mintToken("workflows:write,workflows:execute,runs:read");
    const { exitCode, stdout, stderr } = await runExample(token);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^Workflow Greeting over gRPC \([0-9a-f-]{36}\)$/m);
    expect(stdout).toMatch(/^Run run_\w{26}: completed$/m);
    expect(stdout).toMatch(/^greet transform success$/m);
    const output: unknown = JSON.parse(stdout.slice(stdout.indexOf("\n{")));
    expect(output).toEqual({ greeting: "Hello, Ada" });
  });

  it("shows what the service says of a token without the scopes", async () => {
    const { exitCode, stderr } = await runExample(await mintToken("runs:read"));
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^gRPC status 7: .*workflows:write/);
  });

  it("says how to get a token when there is none", async () => {
    const { exitCode, stderr } = await runExample("");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("admin -- mint-token");
  });
});
