import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { findLocalPostgres } from "@workflow/local-postgres";
import {
  ListWorkflowsRequest,
  WorkflowsServiceService,
} from "@workflow/proto/workflows/v1/workflows";
import { createRpcClient } from "@workflow/rpc";
import { freePort, waitFor } from "@workflow/testkit";
import { Client } from "pg";
import {
  cleanUp,
  failToStart,
  launch,
  launchProgram,
  printedCompany,
  printedKey,
  runAdmin,
  startSystem,
  temporaryFolder,
  testSettings,
} from "./support/system.ts";
import type { StartedSystem, TestSettings } from "./support/system.ts";

const EXAMPLE = join(import.meta.dirname, "../../../examples/order-intake/run.ts");

let dataDir: string;
let settings: TestSettings;
let system: StartedSystem;
let apiKey: string;
let companyId: string;

beforeAll(async () => {
  dataDir = join(await temporaryFolder(), "made", "on-start");
  settings = { ...(await testSettings(dataDir)), METRICS_PORT: String(await freePort()) };
  system = await startSystem(settings);
  apiKey = printedKey(system.stdout());
  companyId = printedCompany(system.stdout());
});
afterAll(cleanUp);

describe("its metrics", () => {
  const scrape = async (): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${settings["METRICS_PORT"]}/metrics`);
    return response.text();
  };

  it("are those that docs/ops/metrics.md explains, beside what every Node process has", async () => {
    const page = await readFile(join(import.meta.dirname, "../../../docs/ops/metrics.md"), "utf8");
    const explained = [...page.matchAll(/^\| `([a-z_]+)` +\| (?:process|all) /gm)];
    const shown = [...(await scrape()).matchAll(/^# HELP (\S+)/gm)]
      .map(([, name = ""]) => name)
      .filter((name) => !/^(?:process|nodejs)_/.test(name));
    expect(shown.toSorted()).toEqual(explained.map(([, name = ""]) => name).toSorted());
  });

  it("tell how far every outbox lags behind", async () => {
    await waitFor(async () => {
      const lags = [...(await scrape()).matchAll(/^outbox_unpublished_events\{(.+)\} (\d+)$/gm)];
      expect(lags.map(([, labels = ""]) => labels).toSorted()).toEqual([
        'schema="integrations",stream="audit"',
        'schema="runs",stream="audit"',
        'schema="runs",stream="runs"',
        'schema="tables",stream="audit"',
        'schema="tables",stream="tables"',
        'schema="webhooks",stream="audit"',
        'schema="workflows",stream="audit"',
        'schema="workflows",stream="workflows"',
      ]);
    });
  });
});

describe("a first start", () => {
  it("shows the company, its owner and a working key once, then where it is ready", async () => {
    const stdout = system.stdout();
    expect(stdout.match(/^ {2}API key/gm)).toHaveLength(1);
    expect(stdout).toMatch(/^ {2}Owner +\S+@\S+$/m);
    expect(stdout).toMatch(/^ {2}Password +\S{12,}$/m);
    expect(stdout.indexOf("API key")).toBeLessThan(stdout.indexOf("Ready http://localhost:"));
    expect(await system.statusOf("/workflows", apiKey)).toBe(200);
  });

  it("shows calls that work when they are pasted into a shell", async () => {
    const lines = system.stdout().split("\n");
    const first = lines.findIndex((line) => line.includes("export API_KEY="));
    const pasted = lines.slice(first, first + 4).join("\n");
    const { exitCode, stdout, stderr } = await launchProgram("bash", ["-c", pasted], {}).ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const answers = stdout.trim().split("\n");
    expect(answers).toHaveLength(2);
    expect(JSON.parse(answers[0] ?? "")).toMatchObject({ data: { status: "active" } });
    expect(JSON.parse(answers[1] ?? "")).toMatchObject({
      data: { status: "completed", output: { greeting: "Hello Ada!", thanks: "Thank you!" } },
    });
  });

  it("keeps its folder and its key to its user", async () => {
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    expect((await stat(join(dataDir, "keys/internal-token-gateway.pem"))).mode & 0o777).toBe(0o600);
  });

  it("opens every session of a service as that service's role, not as the superuser", async () => {
    const superuser = new Client({
      connectionString: (await findLocalPostgres(dataDir))?.connectionUri,
    });
    await superuser.connect();
    try {
      const { rows } = await superuser.query<{ name: string }>(
        `select distinct usename::text as name from pg_stat_activity
         where backend_type = 'client backend' and pid <> pg_backend_pid() order by name`,
      );
      const services = ["gateway", "integrations", "runs", "tables", "webhooks", "workflows"];
      expect(rows.map(({ name }) => name)).toEqual(services.map((name) => `workflow_${name}`));
    } finally {
      await superuser.end();
    }
  });

  it("keeps the services' log out of the terminal", async () => {
    await system.statusOf("/workflows", apiKey);
    await waitFor(async () => {
      const log = await readFile(join(dataDir, "logs/service.log"), "utf8");
      return log.includes('"route":"/workflows"');
    });
    expect(system.stdout()).not.toContain('"level"');
  });
});

describe("beside a running system", () => {
  it("a second start on its folder fails and names the process", async () => {
    const others = { ...(await testSettings(dataDir)) };
    const { exitCode, stdout, stderr } = await failToStart(others);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain("DATA_DIR");
    expect(stderr).toContain(`process ${system.child.pid}`);
    expect(await system.statusOf("/workflows", apiKey)).toBe(200);
  });

  it("admin commands make companies, users and keys that work at once", async () => {
    const company = await runAdmin(
      settings,
      "create-company --name Acme --email a@acme.example --password-stdin --json",
      "longpassword\n",
    );
    expect(company).toMatchObject({ exitCode: 0, stderr: "" });
    const made: Record<string, string> = JSON.parse(company.stdout);
    expect(Object.keys(made)).toEqual(["companyId", "userId", "apiKey"]);
    expect(await system.statusOf("/workflows", made["apiKey"] ?? "")).toBe(200);

    const user = await runAdmin(
      settings,
      `create-user --company ${made["companyId"]} --email b@acme.example --password longpassword --role viewer --json`,
    );
    expect(JSON.parse(user.stdout)).toEqual({ userId: expect.any(String) });

    const key = await runAdmin(
      settings,
      `create-api-key --company ${made["companyId"]} --name reader --scopes runs:read --json`,
    );
    const { key: reader }: Record<string, string> = JSON.parse(key.stdout);
    expect(await system.statusOf("/runs", reader ?? "")).toBe(200);
    expect(await system.statusOf("/workflows", reader ?? "")).toBe(403);
  });

  it("set-password gives a person another password, with which the person can sign in", async () => {
    const made = await runAdmin(
      settings,
      "create-company --name Forgetful --email f@forgetful.example --password longpassword --json",
    );
    const { companyId, userId }: Record<string, string> = JSON.parse(made.stdout);
    const set = await runAdmin(
      settings,
      "set-password --email F@forgetful.example --password anotherpassword --json",
    );
    expect(JSON.parse(set.stdout)).toEqual({ userId });
    const signIn = async (password: string): Promise<number> => {
      const response = await fetch(`${system.baseUrl}/auth/session`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ email: "f@forgetful.example", password }),
      });
      return response.status;
    };
    expect(await signIn("longpassword")).toBe(401);
    expect(await signIn("anotherpassword")).toBe(200);
    const listed = await runAdmin(settings, "list-companies --json");
    expect(JSON.parse(listed.stdout)).toMatchObject({
      companies: expect.arrayContaining([
        expect.objectContaining({
          id: companyId,
          name: "Forgetful",
          owners: ["f@forgetful.example"],
        }),
      ]),
    });
    const unknown = await runAdmin(
      settings,
      "set-password --email nobody@forgetful.example --password anotherpassword --json",
    );
    expect(unknown.exitCode).toBe(1);
  });

  it("an admin command that fails says why, with --json as JSON", async () => {
    const unknown = "01900000-0000-7000-8000-000000000000";
    const { exitCode, stdout, stderr } = await runAdmin(
      settings,
      `create-api-key --company ${unknown} --name x --scopes runs:read --json`,
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(JSON.parse(stderr)).toEqual({
      error: { code: "NOT_FOUND", message: "Company not found" },
    });
  });

  it("a minted token is accepted by the gRPC services, for its company and scopes", async () => {
    const minted = await runAdmin(
      settings,
      `mint-token --company ${companyId} --scopes workflows:read --json`,
    );
    const { token = "" }: Record<string, string> = JSON.parse(minted.stdout);
    const client = createRpcClient(WorkflowsServiceService, {
      address: settings["WORKFLOWS_GRPC_ADDR"] ?? "",
      minter: { mint: () => Promise.resolve(token) },
    });
    const principal = { type: "token", id: "stands in the token" } as const;
    const identity = { companyId, principal, scopes: [] };
    try {
      await expect(
        client.listWorkflows(ListWorkflowsRequest.fromPartial({}), { identity }),
      ).resolves.toBeDefined();
      await expect(
        client.activateWorkflow({ workflowId: companyId }, { identity }),
      ).rejects.toMatchObject({ reason: "FORBIDDEN" });
    } finally {
      client.close();
    }
  });

  it("migrate finds everything up to date", async () => {
    const { exitCode, stdout } = await runAdmin(settings, "migrate --json");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ applied: [] });
  });

  it("the example tells which setting it needs when loopback addresses are closed", async () => {
    const environment = { API_KEY: apiKey, BASE_URL: system.baseUrl };
    const { exitCode, stderr } = await launch([EXAMPLE], environment).ended;
    expect(exitCode).toBe(1);
    expect(stderr).toContain("by default workflows may not call it");
    expect(stderr).toContain("OUTBOUND_ALLOW_PRIVATE=true");
  });
});
