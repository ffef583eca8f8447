import { userInfo } from "node:os";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { z } from "zod";
import { readCommandLine } from "../src/admin/command-line.ts";
import {
  cleanUp,
  printedKey,
  runAdmin,
  startSystem,
  temporaryFolder,
  testSettings,
} from "./support/system.ts";
import type { Outcome, StartedSystem, TestSettings } from "./support/system.ts";

/** Each command is a process of its own. */
jest.setTimeout(240_000);

const PASSWORD = "a long password";
const eventsSchema = z.object({
  events: z.array(
    z.looseObject({
      action: z.string(),
      actorType: z.string(),
      actorName: z.string(),
      resourceId: z.string(),
      changes: z.record(z.string(), z.unknown()),
    }),
  ),
});
const madeCompany = z.object({ companyId: z.uuid(), userId: z.uuid(), apiKey: z.string() });

let settings: TestSettings;
let system: StartedSystem;

beforeAll(async () => {
  settings = await testSettings(await temporaryFolder());
  system = await startSystem(settings);
});
afterAll(cleanUp);

const run = (commandLine: string, stdin?: string): Promise<Outcome> =>
  runAdmin(settings, `${commandLine} --json`, stdin);

async function eventsOf(companyId?: string) {
  const flags = companyId === undefined ? "" : ` --company ${companyId}`;
  const { stdout } = await run(`audit-log${flags}`);
  return eventsSchema.parse(JSON.parse(stdout)).events;
}

async function makeCompany(name: string) {
  const email = `${name}@${name}.example`;
  const made = await run(
    `create-company --name ${name} --email ${email} --password-stdin`,
    PASSWORD,
  );
  expect(made).toMatchObject({ exitCode: 0, stderr: "" });
  return { email, ...madeCompany.parse(JSON.parse(made.stdout)) };
}

async function trySignIn(body: object): Promise<number> {
  const response = await fetch(`${system.baseUrl}/auth/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.body?.cancel();
  return response.status;
}

describe("what an operator does", () => {
  it("stands in the company's own log, by the name of the operating system's user", async () => {
    const { companyId, userId, email, apiKey } = await makeCompany("audited");
    const key = await run(`create-api-key --company ${companyId} --name CI --scopes runs:read`);
    await run(
      `create-user --company ${companyId} --email v@v.example --password-stdin --role viewer`,
      PASSWORD,
    );
    await run(`set-password --email ${email} --password -`, "another password\r\n");
    const minted = await run(`mint-token --company ${companyId} --scopes runs:read --ttl 60`);
    const { token } = z.object({ token: z.string() }).parse(JSON.parse(minted.stdout));
    await run(`revoke-token --token ${token}`);
    const retention = await run(`set-run-retention --company ${companyId} --days 30`);
    expect(JSON.parse(retention.stdout)).toEqual({ companyId, days: 30 });
    const limits = await run(`set-rate-limits --company ${companyId} --write 7 --execute default`);
    expect(JSON.parse(limits.stdout)).toEqual({ companyId, read: null, write: 7, execute: null });
    const subject = `--company ${companyId} --tag night`;
    const pool = await run(`set-worker-pool ${subject} --pool heavy`);
    expect(JSON.parse(pool.stdout)).toEqual({ companyId, tag: "night", pool: "heavy" });
    const listed = JSON.parse((await run("list-worker-pools")).stdout);
    expect(listed).toEqual({
      rules: [{ companyId, tag: "night", pool: "heavy" }],
      pools: [
        { pool: "default", due: 0, oldestAgeSeconds: 0, postponed: 0 },
        { pool: "heavy", due: 0, oldestAgeSeconds: 0, postponed: 0 },
      ],
    });
    await run(`remove-worker-pool ${subject}`);
    const events = await eventsOf(companyId);
    expect(events.map(({ action }) => action)).toEqual([
      "company.worker_pool_set",
      "company.worker_pool_set",
      "company.rate_limits_set",
      "company.run_retention_set",
      "token.revoked",
      "token.minted",
      "password.set",
      "member.added",
      "api_key.created",
      "api_key.created",
      "company.created",
    ]);
    for (const { actorType, actorName } of events) {
      expect({ actorType, actorName }).toEqual({
        actorType: "operator",
        actorName: userInfo().username,
      });
    }
    expect(events.map(({ resourceId }) => resourceId)).toContain(userId);
    const texts = JSON.stringify(events);
    const { key: made } = z.object({ key: z.string() }).parse(JSON.parse(key.stdout));
    for (const secret of [PASSWORD, "another password", apiKey, made, token]) {
      expect(texts).not.toContain(secret);
    }
    // The company reads it as it reads the rest.
    const response = await fetch(`${system.baseUrl}/audit-logs?action=password.set`, {
      headers: { "x-api-key": apiKey },
    });
    expect(await response.json()).toMatchObject({ data: [{ actor: { type: "operator" } }] });
    expect(await trySignIn({ email, password: "another password" })).toBe(200);
  });

  it("stands in the installation's log where no company is concerned, which no key can read", async () => {
    const rotated = await run("rotate-kek");
    expect(rotated).toMatchObject({ exitCode: 0 });
    const nowhere = "01900000-0000-7000-8000-000000000000";
    await run(`mint-token --company ${nowhere} --scopes runs:read`);
    const [minted, kek] = await eventsOf();
    expect(minted).toMatchObject({ action: "token.minted", actorType: "operator" });
    expect(JSON.stringify(minted?.changes)).toContain(nowhere);
    expect(kek).toMatchObject({ action: "kek.rotated" });
    const verified = await run("verify-audit");
    expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true });
    const headers = { "x-api-key": printedKey(system.stdout()) };
    const response = await fetch(`${system.baseUrl}/audit-logs?action=kek.rotated`, { headers });
    expect(await response.json()).toMatchObject({ data: [] });
  });

  it("leaves nothing when it fails", async () => {
    const { companyId, email } = await makeCompany("failing");
    const before = await eventsOf(companyId);
    const again = await run(`create-company --name F --email ${email} --password-stdin`, PASSWORD);
    expect(again).toMatchObject({ exitCode: 1, stdout: "" });
    expect(JSON.parse(again.stderr)).toMatchObject({ error: { code: "CONFLICT" } });
    const member = `create-user --company ${companyId} --email ${email} --role viewer --password-stdin`;
    expect(await run(member, PASSWORD)).toMatchObject({ exitCode: 1 });
    expect(await eventsOf(companyId)).toEqual(before);
  });
});

describe("create-user for somebody with an account", () => {
  it("adds a membership, keeps the password and says so", async () => {
    const first = await makeCompany("first");
    const second = await makeCompany("second");
    const flags = `--company ${second.companyId} --email ${first.email.toUpperCase()} --role viewer`;
    const added = await run(`create-user ${flags} --password-stdin`, "not to be taken");
    expect(added).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(added.stdout)).toEqual({ userId: first.userId, existing: true });
    expect(JSON.parse(added.stderr)).toEqual({
      warning: expect.stringContaining("had an account"),
    });
    const { email } = first;
    expect(await trySignIn({ email, password: "not to be taken" })).toBe(401);
    expect(await trySignIn({ email, password: PASSWORD, company: second.companyId })).toBe(200);
  });
});

describe("a password for an admin command", () => {
  const flags = ["--email", "a@b.example"];

  it("on the command line works, with a warning on stderr", async () => {
    const { email } = await makeCompany("visible");
    const asJson = await run(`set-password --email ${email} --password anotherpassword`);
    expect(asJson.exitCode).toBe(0);
    expect(JSON.parse(asJson.stdout)).toEqual({ userId: expect.any(String) });
    expect(JSON.parse(asJson.stderr)).toEqual({ warning: expect.stringContaining("processes") });
    const asText = await runAdmin(settings, `set-password --email ${email} --password 12345678`);
    expect(asText.stderr).toMatch(/^Warning: .*--password-stdin/);
    expect(asText.stderr).not.toContain("12345678");
    expect(await trySignIn({ email, password: "12345678" })).toBe(200);
  });

  it("comes from stdin in two spellings, which exclude a third", () => {
    for (const given of [["--password-stdin"], ["--password", "-"]]) {
      const line = readCommandLine(["set-password", ...flags, ...given]);
      expect(line).toMatchObject({ stdinFlag: "password", warnings: [] });
    }
    const both = ["set-password", ...flags, "--password-stdin", "--password", "x"];
    expect(() => readCommandLine(both)).toThrow("exclude each other");
    // Only where a secret is asked for.
    expect(() => readCommandLine(["create-api-key", "--name-stdin"])).toThrow("--name-stdin");
  });

  it("is refused when stdin has none, or too much", async () => {
    const command = "set-password --email a@b.example --password-stdin";
    for (const stdin of ["", "\n", "x".repeat(5_000)]) {
      const outcome = await run(command, stdin);
      expect(outcome).toMatchObject({ exitCode: 2, stdout: "" });
      expect(JSON.parse(outcome.stderr)).toMatchObject({ error: { code: "BAD_REQUEST" } });
    }
  });
});
