import { createPublicKey } from "node:crypto";
import { mkdir, readdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import {
  ListWorkflowsRequest,
  WorkflowsServiceService,
} from "@workflow/proto/workflows/v1/workflows";
import { createRpcClient, generateSigningKey, TOKEN_ISSUERS } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import {
  cleanUp,
  failToStart,
  runAdmin,
  startSystem,
  temporaryFolder,
  testSettings,
} from "./support/system.ts";
import type { StartedSystem, TestSettings } from "./support/system.ts";

const mintedSchema = z.strictObject({
  token: z.string(),
  jti: z.uuid(),
  expiresAt: z.iso.datetime(),
});

const oldKey = generateSigningKey().privateKeyPem;
const companyId = newUuid();
let keysFolder: string;
let settings: TestSettings;
let system: StartedSystem | null = null;

beforeAll(async () => {
  const dataDir = await temporaryFolder();
  keysFolder = join(dataDir, "keys");
  // As versions before had it: one key for everybody.
  await mkdir(keysFolder, { mode: 0o700 });
  await writeFile(join(keysFolder, "internal-token.pem"), oldKey, { mode: 0o600 });
  settings = await testSettings(dataDir);
});
beforeEach(async () => {
  system ??= await startSystem(settings);
});
afterAll(cleanUp);

/** Whoever stops it need not start it again. */
async function stop(): Promise<void> {
  const stopping = system;
  system = null;
  stopping?.child.kill("SIGTERM");
  expect((await stopping?.ended)?.exitCode).toBe(0);
}

async function mint(more: TestSettings = {}) {
  const command = `mint-token --company ${companyId} --scopes workflows:read --ttl 600 --json`;
  const { exitCode, stdout, stderr } = await runAdmin({ ...settings, ...more }, command);
  // With a key alone the system is elsewhere, and so is its audit log.
  const isElsewhere = "INTERNAL_TOKEN_PRIVATE_KEY" in more;
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: isElsewhere ? expect.stringContaining("the audit log was not told") : "",
  });
  return mintedSchema.parse(JSON.parse(stdout));
}

/** `OK` or the reason why a call with the token is refused. */
async function attempt(token: string): Promise<string> {
  const client = createRpcClient(WorkflowsServiceService, {
    address: settings["WORKFLOWS_GRPC_ADDR"] ?? "",
  });
  try {
    await client.listWorkflows(ListWorkflowsRequest.fromPartial({}), { token });
    return "OK";
  } catch (error) {
    if (isAppError(error)) return error.reason;
    throw error;
  } finally {
    client.close();
  }
}

describe("the keys of internal tokens", () => {
  it("are made for each issuer, for their owner only, beside the single one of before", async () => {
    const files = TOKEN_ISSUERS.map((issuer) => `internal-token-${issuer}.pem`);
    const found = await readdir(keysFolder);
    expect(found.toSorted()).toEqual([...files, "internal-token.pem", "secrets-kek"].toSorted());
    const keys = await Promise.all(files.map((file) => readFile(join(keysFolder, file), "utf8")));
    expect(new Set([...keys, oldKey]).size).toBe(TOKEN_ISSUERS.length + 1);
    for (const file of files) expect((await stat(join(keysFolder, file))).mode & 0o777).toBe(0o600);
  });
});

describe("revoke-token", () => {
  it("makes a token useless within five seconds, named by itself or by its jti", async () => {
    const [first, second] = [await mint(), await mint()];
    expect([await attempt(first.token), await attempt(second.token)]).toEqual(["OK", "OK"]);
    const revoked = await runAdmin(settings, `revoke-token --token ${first.token} --json`);
    expect(JSON.parse(revoked.stdout)).toEqual({ jti: first.jti, expiresAt: first.expiresAt });
    expect((await runAdmin(settings, `revoke-token --token ${second.jti}`)).exitCode).toBe(0);
    for (const { token } of [first, second]) {
      await waitFor(async () => (await attempt(token)) === "UNAUTHORIZED", { timeoutMs: 60_000 });
    }
  });

  it("works on a stopped system; keys that are given take the place of those of the folder", async () => {
    const [revoked, other] = [await mint(), await mint()];
    await stop();
    expect((await runAdmin(settings, `revoke-token --token ${revoked.token}`)).exitCode).toBe(0);
    const elsewhere = generateSigningKey();
    const own = { INTERNAL_TOKEN_PRIVATE_KEY: generateSigningKey().privateKeyPem };
    const adminKeys = [
      await readFile(join(keysFolder, "internal-token-admin.pem"), "utf8"),
      elsewhere.privateKeyPem,
    ].map((pem) => {
      const publicPem = createPublicKey(pem).export({ format: "pem", type: "spki" });
      return Buffer.from(publicPem).toString("base64");
    });
    system = await startSystem({
      ...settings,
      ...own,
      INTERNAL_TOKEN_PUBLIC_KEYS: adminKeys.map((key) => `admin=${key}`).join(","),
    });
    expect(await attempt(revoked.token)).toBe("UNAUTHORIZED");
    expect(await attempt(other.token)).toBe("OK");
    expect(await attempt((await mint(own)).token)).toBe("OK");
    const there = { INTERNAL_TOKEN_PRIVATE_KEY: elsewhere.privateKeyPem };
    expect(await attempt((await mint(there)).token)).toBe("OK");
    const stranger = { INTERNAL_TOKEN_PRIVATE_KEY: generateSigningKey().privateKeyPem };
    expect(await attempt((await mint(stranger)).token)).toBe("UNAUTHORIZED");
  });

  it("refuses what is no minted token, without touching the system", async () => {
    const { exitCode, stderr } = await runAdmin(settings, "revoke-token --token x.y.z");
    expect(exitCode).toBe(2);
    expect(stderr).toContain("--token must be a token that mint-token has made, or its jti");
  });
});

describe("mint-token", () => {
  it("refuses a service that does not exist", async () => {
    const command = `mint-token --company ${companyId} --scopes runs:read --audience runs,gateway`;
    const { exitCode, stderr } = await runAdmin(settings, command);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('--audience: "gateway" is unknown');
  });
});

describe("a start", () => {
  it("names the key that is damaged, and settings that hold none", async () => {
    await stop();
    const file = join(keysFolder, "internal-token-runs.pem");
    await rename(file, `${file}.aside`);
    await writeFile(file, "not a key");
    const damaged = await failToStart(settings);
    expect(damaged).toMatchObject({ exitCode: 1, stdout: "" });
    expect(damaged.stderr).toContain(`${file} is damaged`);
    expect(damaged.stderr).not.toContain("not a key");

    const wrong = await failToStart({
      ...settings,
      INTERNAL_TOKEN_PRIVATE_KEY: "hunter2",
      INTERNAL_TOKEN_PUBLIC_KEYS: "gateway=hunter2",
      RUNS_GRPC_ADDR: "0.0.0.0:18301",
    });
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toMatch(/^ {2}INTERNAL_TOKEN_PRIVATE_KEY: /m);
    expect(wrong.stderr).toMatch(/^ {2}INTERNAL_TOKEN_PUBLIC_KEYS: /m);
    expect(wrong.stderr).not.toContain("hunter2");

    await rename(`${file}.aside`, file);
    const plain = await failToStart({ ...settings, RUNS_GRPC_ADDR: "0.0.0.0:18301" });
    expect(plain.exitCode).toBe(1);
    expect(plain.stderr).toMatch(/RUNS_GRPC_ADDR.*0\.0\.0\.0:18301.*GRPC_ALLOW_PLAINTEXT=true/);
  });
});
