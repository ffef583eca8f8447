import { readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { SecretsServiceService } from "@workflow/proto/integrations/v1/secrets";
import { createRpcClient, createTokenMinter, createTokenSigner } from "@workflow/rpc";
import { freePort } from "@workflow/testkit";
import { z } from "zod";
import {
  cleanUp,
  failToStart,
  printedCompany,
  printedKey,
  runAdmin,
  startSystem,
  temporaryFolder,
  testSettings,
} from "./support/system.ts";
import type { StartedSystem, TestSettings } from "./support/system.ts";

const createdSchema = z.object({ data: z.object({ id: z.string() }) });
const rotationSchema = z.strictObject({
  kekId: z.string().regex(/^[0-9a-f]{16}$/),
  rewrapped: z.int(),
  companyKeys: z.int(),
  retired: z.array(z.string().regex(/^[0-9a-f]{16}$/)),
});

let settings: TestSettings;
let system: StartedSystem;
let keysFolder: string;
let kekFile: string;
let apiKey: string;
let companyId: string;
let workflowId: string;

beforeAll(async () => {
  const dataDir = await temporaryFolder();
  keysFolder = join(dataDir, "keys");
  kekFile = join(keysFolder, "secrets-kek");
  settings = {
    ...(await testSettings(dataDir)),
    INTEGRATIONS_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
  };
  system = await startSystem(settings);
  apiKey = printedKey(system.stdout());
  companyId = printedCompany(system.stdout());
  workflowId = await createWorkflow(apiKey);
  expect(await storeSecret(apiKey, workflowId, "FIRST")).toBe(200);
});
afterAll(cleanUp);

async function post(key: string, path: string, body: unknown): Promise<Response> {
  return fetch(system.baseUrl + path, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function createWorkflow(key: string): Promise<string> {
  const body = { name: "Keeper", trigger: { type: "api" }, steps: [] };
  const answer = createdSchema.parse(await (await post(key, "/workflows", body)).json());
  return answer.data.id;
}

/** The value tells the key. */
async function storeSecret(key: string, workflow: string, name: string): Promise<number> {
  const body = { key: name, value: `value of ${name}` };
  return (await post(key, `/workflows/${workflow}/secrets`, body)).status;
}

/** What a run of the first company would get. */
async function resolve(...keys: string[]): Promise<Record<string, string>> {
  const privateKeyPem = await readFile(join(keysFolder, "internal-token-runs.pem"), "utf8");
  const client = createRpcClient(SecretsServiceService, {
    address: settings["INTEGRATIONS_GRPC_ADDR"] ?? "",
    minter: createTokenMinter(createTokenSigner({ issuer: "runs", privateKeyPem }), {
      audience: "integrations",
    }),
  });
  const principal = { type: "service", id: "runs" } as const;
  const identity = { companyId, principal, scopes: ["internal:secrets"] };
  try {
    return (await client.resolveSecrets({ workflowId, keys }, { identity })).values;
  } finally {
    client.close();
  }
}

async function stop(): Promise<void> {
  system.child.kill("SIGTERM");
  expect((await system.ended).exitCode).toBe(0);
}

async function rotate(more: TestSettings = {}) {
  const outcome = await runAdmin({ ...settings, ...more }, "rotate-kek --json");
  expect(outcome).toMatchObject({ exitCode: 0, stderr: "" });
  return rotationSchema.parse(JSON.parse(outcome.stdout));
}

describe("the key that encrypts secrets", () => {
  it("is made on the first start, for its owner only, and leaves no drafts", async () => {
    expect((await stat(kekFile)).mode & 0o777).toBe(0o600);
    expect(Buffer.from(await readFile(kekFile, "utf8"), "base64")).toHaveLength(32);
    expect((await readdir(keysFolder)).toSorted()).toEqual([
      ...["admin", "gateway", "runs", "webhooks", "workflows"].map(
        (issuer) => `internal-token-${issuer}.pem`,
      ),
      "secrets-kek",
    ]);
  });

  it("is rotated under a running system, which goes on with old and new companies", async () => {
    const before = await readFile(kekFile, "utf8");
    const { rewrapped, companyKeys, retired } = await rotate();
    expect(rewrapped).toBe(companyKeys);
    expect(companyKeys).toBeGreaterThan(0);
    expect(retired).toHaveLength(1);
    const after = await readFile(kekFile, "utf8");
    expect(after).not.toContain(before.trim());
    expect(Buffer.from(after, "base64")).toHaveLength(32);
    expect((await stat(kekFile)).mode & 0o777).toBe(0o600);

    expect(await resolve("FIRST")).toEqual({ FIRST: "value of FIRST" });
    const made = await runAdmin(
      settings,
      `create-company --name New --email ${Date.now()}@new.example --password longpassword --json`,
    );
    const { apiKey: newKey = "" }: Record<string, string> = JSON.parse(made.stdout);
    expect(await storeSecret(newKey, await createWorkflow(newKey), "A")).toBe(200);
  });

  it("is rotated while the system is stopped; what was stored opens after the next start", async () => {
    await stop();
    const { rewrapped, companyKeys } = await rotate();
    expect(rewrapped).toBe(companyKeys);
    system = await startSystem(settings);
    expect(await storeSecret(apiKey, workflowId, `AFTER_${Date.now()}`)).toBe(200);
    expect(await resolve("FIRST")).toEqual({ FIRST: "value of FIRST" });
  });

  it("that is damaged or another one ends the start with an error that says so", async () => {
    await stop();
    const aside = `${kekFile}.aside`;
    await rename(kekFile, aside);
    await writeFile(kekFile, "not a key");
    const damaged = await failToStart(settings);
    expect(damaged).toMatchObject({ exitCode: 1, stdout: "" });
    expect(damaged.stderr).toContain(`${kekFile} is damaged`);
    expect(damaged.stderr).not.toContain("not a key");

    await writeFile(kekFile, Buffer.alloc(32, 1).toString("base64"));
    const another = await failToStart(settings);
    expect(another.exitCode).toBe(1);
    expect(another.stderr).toContain("SECRETS_KEK");
    expect(another.stderr).toContain("encrypted with another key");

    await rename(aside, kekFile);
    system = await startSystem(settings);
    expect(await resolve("FIRST")).toEqual({ FIRST: "value of FIRST" });
  });

  it("given by SECRETS_KEK is rotated to the first of its list, the file is left alone", async () => {
    const stored = await readFile(kekFile, "utf8");
    const next = Buffer.alloc(32, 9).toString("base64");
    const list = `${next},${stored.trim()}`;
    await stop();
    expect((await runAdmin({ ...settings, SECRETS_KEK: next }, "rotate-kek --json")).exitCode).toBe(
      2,
    );
    const { rewrapped, companyKeys } = await rotate({ SECRETS_KEK: list });
    expect(rewrapped).toBe(companyKeys);
    expect(await readFile(kekFile, "utf8")).toBe(stored);
    system = await startSystem({ ...settings, SECRETS_KEK: next });
    expect(await resolve("FIRST")).toEqual({ FIRST: "value of FIRST" });
    // Back under the key of the file, as the other tests have it.
    await stop();
    await rotate({ SECRETS_KEK: `${stored.trim()},${next}` });
    system = await startSystem(settings);
    expect(await resolve("FIRST")).toEqual({ FIRST: "value of FIRST" });
  });
});

describe("rotate-kek", () => {
  it("refuses a database elsewhere whose key is not given", async () => {
    const elsewhere = {
      DATA_DIR: await temporaryFolder(),
      DATABASE_URL: "postgresql://nobody@127.0.0.1:1/none",
    };
    const { exitCode, stderr } = await runAdmin(elsewhere, "rotate-kek --json");
    expect(exitCode).toBe(2);
    expect(stderr).toContain("SECRETS_KEK");
  });
});
