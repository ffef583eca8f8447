import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { isAppError } from "@workflow/errors";
import { findLocalPostgres } from "@workflow/local-postgres";
import {
  ListWorkflowsRequest,
  WorkflowsServiceService,
} from "@workflow/proto/workflows/v1/workflows";
import { createRpcClient } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { takeBaseBackup } from "../../../tests/support/base-backup.ts";
import { callApi } from "../../../tests/support/api-client.ts";
import { bySession, signIn, trySignIn } from "../../../tests/support/people.ts";
import { readCommandLine } from "../src/admin/command-line.ts";
import { readAdminSettings } from "../src/admin/settings.ts";
import { UsageError } from "../src/admin/usage-error.ts";
import { cleanUp, runAdmin, startSystem, temporaryFolder, testSettings } from "./support/system.ts";
import type { StartedSystem, TestSettings } from "./support/system.ts";

/*
 * A backup is taken, access is revoked, and a second system starts on the backup: what it gives back is taken
 * away again by the operator's commands, while it serves.
 */

/** Each command is a process of its own. */
jest.setTimeout(300_000);

const PASSWORD = "a long password";
const EVERYTHING = { timeoutMs: 60_000 };
const id = z.object({ id: z.uuid() });
const userOf = z.object({ userId: z.uuid() });
const madeCompany = z.object({ companyId: z.uuid(), userId: z.uuid(), apiKey: z.string() });
const listed = z.looseObject({ listedAt: z.string(), companies: z.array(z.unknown()) });

/** Somebody with a session that is older than the backup. */
interface Guest {
  userId: string;
  email: string;
  session: string;
}

let settings: TestSettings;
/** `http://127.0.0.1:<port>` of the system that runs. */
let at: { origin: string };
let acme: z.output<typeof madeCompany>;
/** A company whose credentials are older than those of acme, and the time between them. */
let elder: z.output<typeof madeCompany>;
let elderSession: string;
let betweenThem: string;
/** Of acme: the key and the people that lose their access after the backup. */
let gone: { id: string; key: string };
let token: string;
let leaver: Guest;
let demoted: Guest;
/** The file that the operator has kept. */
let list: string;

beforeAll(async () => {
  const [first, second] = [await temporaryFolder(), await temporaryFolder()];
  const original = await use(first);
  await prepare();
  const beforeBackup = new Date().toISOString();
  await copySystem(first, second);
  await revokeSome();
  list = join(second, "revocations.json");
  const { stdout } = await succeed(`list-revocations --since ${beforeBackup}`);
  await writeFile(list, stdout);
  original.child.kill("SIGTERM");
  await original.ended;
  await use(second);
}, 600_000);
afterAll(cleanUp);

async function use(dataDir: string): Promise<StartedSystem> {
  settings = await testSettings(dataDir);
  at = { origin: `http://127.0.0.1:${settings["PORT"]}` };
  return startSystem(settings);
}

const run = (commandLine: string, stdin?: string) =>
  runAdmin(settings, `${commandLine} --json`, stdin);

async function succeed(commandLine: string, stdin?: string) {
  const outcome = await run(commandLine, stdin);
  expect(outcome).toMatchObject({ exitCode: 0, stderr: "" });
  return { stdout: outcome.stdout, json: z.unknown().parse(JSON.parse(outcome.stdout)) };
}

const ownerOf = (name: string) => ({ email: `owner@${name}.example`, password: PASSWORD });

async function makeCompany(name: string) {
  const flags = `--name ${name} --email ${ownerOf(name).email} --password-stdin`;
  return madeCompany.parse((await succeed(`create-company ${flags}`, PASSWORD)).json);
}

async function addGuest(email: string): Promise<Guest> {
  const flags = `--company ${acme.companyId} --email ${email} --role admin --password-stdin`;
  const { userId } = userOf.parse((await succeed(`create-user ${flags}`, PASSWORD)).json);
  return { userId, email, session: await signIn(at, { email, password: PASSWORD }) };
}

/** What there is at the backup. */
async function prepare(): Promise<void> {
  elder = await makeCompany("elder");
  elderSession = await signIn(at, ownerOf("elder"));
  betweenThem = new Date().toISOString();
  acme = await makeCompany("acme");
  const key = await succeed(
    `create-api-key --company ${acme.companyId} --name CI --scopes api_keys:read`,
  );
  gone = id.extend({ key: z.string() }).parse(key.json);
  leaver = await addGuest("leaver@acme.example");
  demoted = await addGuest("demoted@acme.example");
  const minted = await succeed(`mint-token --company ${acme.companyId} --scopes workflows:read`);
  ({ token } = z.object({ token: z.string() }).parse(minted.json));
}

/** As an operator who restores the folder of a system that went on meanwhile. */
async function copySystem(from: string, to: string): Promise<void> {
  const postgres = await findLocalPostgres(from);
  if (postgres === null) throw new Error("Postgres does not run.");
  await takeBaseBackup(postgres.connectionUri, join(from, "pgdata"), join(to, "pgdata"));
  await cp(join(from, "postgres.json"), join(to, "postgres.json"));
  await cp(join(from, "keys"), join(to, "keys"), { recursive: true });
}

/** What the backup does not know. */
async function revokeSome(): Promise<void> {
  const key = { key: acme.apiKey };
  const calls = [
    await call("DELETE", `/auth/api-keys/${gone.id}`, key),
    await call("DELETE", `/members/${leaver.userId}`, key),
    await call("PATCH", `/members/${demoted.userId}`, { ...key, body: { role: "viewer" } }),
  ];
  expect(calls.map(({ status }) => status)).toEqual([200, 200, 200]);
  await succeed(`revoke-token --token ${token}`);
  await succeed(`set-password --email ${demoted.email} --password-stdin`, "another password");
}

const call = (method: string, path: string, options: Parameters<typeof callApi>[2]) =>
  callApi(`${at.origin}/api/v1${path}`, method, options);

async function statusOfKey(key: string): Promise<number> {
  return (await call("GET", "/auth/api-keys", { key })).status;
}

async function statusOfSession(session: string): Promise<number> {
  return (await call("GET", "/auth/session", bySession(at, session))).status;
}

/** `OK` or the reason why a call with the minted token is refused. */
async function attempt(): Promise<string> {
  const address = settings["WORKFLOWS_GRPC_ADDR"] ?? "";
  const client = createRpcClient(WorkflowsServiceService, { address });
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

const becomes = (look: () => Promise<unknown>, wanted: unknown): Promise<unknown> =>
  waitFor(async () => expect(await look()).toBe(wanted), EVERYTHING);

/** Why a command line is refused, which needs no system. */
async function refusal(...words: string[]): Promise<string> {
  const line = readCommandLine(words);
  if (line === null) throw new Error("It was a question for help.");
  const outcome = line.command.run(readAdminSettings({}), line.values);
  return outcome.then(
    () => "nothing",
    (error: unknown) =>
      error instanceof UsageError ? error.message : `not by us: ${String(error)}`,
  );
}

const NOTHING = { apiKeys: 0, sessions: 0, membersRemoved: 0, rolesLowered: 0, tokens: 0 };

describe("a list of revocations", () => {
  it("takes away again what a restored database gave back, and nothing else", async () => {
    expect(await statusOfKey(gone.key)).toBe(200);
    expect(await statusOfSession(leaver.session)).toBe(200);
    expect(await attempt()).toBe("OK");
    const expected = { apiKeys: 1, membersRemoved: 1, rolesLowered: 1, tokens: 1 };
    // Nobody but a person can set another password.
    const followUps = [{ companyId: acme.companyId, action: "password.set" }];

    const dry = await succeed(`apply-revocations --file ${list}`);
    expect(dry.json).toMatchObject({ applied: false, ...expected, followUps });
    expect(await statusOfKey(gone.key)).toBe(200);
    expect(await attempt()).toBe("OK");

    const applied = await succeed(`apply-revocations --file ${list} --apply yes`);
    expect(applied.json).toMatchObject({ applied: true, ...expected, followUps, left: [] });
    await becomes(() => statusOfKey(gone.key), 401);
    await becomes(() => statusOfSession(leaver.session), 401);
    await becomes(() => statusOfSession(demoted.session), 401);
    await becomes(attempt, "UNAUTHORIZED");
    expect((await trySignIn(at, { email: leaver.email, password: PASSWORD })).status).toBe(401);
    const again = await trySignIn(at, { email: demoted.email, password: PASSWORD });
    expect(again).toMatchObject({ status: 200, data: { role: "viewer" } });
    expect(await statusOfKey(acme.apiKey)).toBe(200);

    // A second time: sessions that began since go on.
    const session = await signIn(at, ownerOf("acme"));
    const twice = await succeed(`apply-revocations --file ${list} --apply yes`);
    expect(twice.json).toMatchObject({ applied: true, ...NOTHING });
    expect(await statusOfSession(session)).toBe(200);

    const { stdout } = await succeed(`audit-log --company ${acme.companyId}`);
    for (const [action, resourceId] of [
      ["api_key.revoked", gone.id],
      ["member.removed", leaver.userId],
      ["member.role_changed", demoted.userId],
      ["company.sessions_ended", acme.companyId],
    ]) {
      const event = expect.objectContaining({ action, resourceId, actorType: "operator" });
      expect(JSON.parse(stdout)).toMatchObject({ events: expect.arrayContaining([event]) });
    }
    expect((await succeed("verify-audit")).json).toMatchObject({ ok: true });
  });

  it("holds no secret", async () => {
    const text = await readFile(list, "utf8");
    expect(text).toContain(gone.id);
    for (const secret of [gone.key, token, PASSWORD]) expect(text).not.toContain(secret);
  });

  it("leaves a company its last owner, and says so by its exit code", async () => {
    const { userId, companyId } = await makeCompany("lonely");
    const file = `${list}.owner`;
    const owner = { companyId, apiKeys: [], followUps: [], members: [{ userId, role: null }] };
    const listedAt = "2026-01-01T00:00:00Z";
    const made = { format: "revocations/1", listedAt, companies: [owner], tokens: [] };
    await writeFile(file, JSON.stringify(made));
    const outcome = await run(`apply-revocations --file ${file} --apply yes`);
    expect(outcome.exitCode).toBe(1);
    const left = [{ companyId, userId, reason: "last owner" }];
    expect(JSON.parse(outcome.stdout)).toMatchObject({ ...NOTHING, left });
    expect(outcome.stderr).toContain(userId);
    await signIn(at, ownerOf("lonely"));
  });

  it("is refused when it is none, with the place", async () => {
    const whole = listed.parse(JSON.parse(await readFile(list, "utf8")));
    const cases: [unknown, string][] = [
      [{}, "format:"],
      [{ ...whole, listedAt: "today" }, "listedAt:"],
      [{ ...whole, companies: [{ companyId: "acme" }] }, "companies.0.companyId:"],
    ];
    for (const [content, place] of cases) {
      const file = `${list}.wrong`;
      await writeFile(file, JSON.stringify(content));
      await expect(refusal("apply-revocations", "--file", file)).resolves.toContain(place);
    }
    expect(await refusal("apply-revocations", "--file", `${list}.none`)).toContain("--file");
  });
});

describe("revoke-credentials", () => {
  it("revokes the keys of one company, those of before a time only, once told to apply", async () => {
    const { companyId, apiKey } = await makeCompany("leaky");
    const session = await signIn(at, ownerOf("leaky"));
    const time = new Date().toISOString();
    const made = await succeed(
      `create-api-key --company ${companyId} --name New --scopes api_keys:read`,
    );
    const { key } = z.object({ key: z.string() }).parse(made.json);
    const command = `revoke-credentials --created-before ${time} --company ${companyId} --kinds keys`;
    const one = { companies: 1, apiKeys: 1, sessions: 0 };
    expect((await succeed(command)).json).toEqual({ applied: false, ...one });
    expect(await statusOfKey(apiKey)).toBe(200);
    expect((await succeed(`${command} --apply yes`)).json).toEqual({ applied: true, ...one });
    await becomes(() => statusOfKey(apiKey), 401);
    expect(await statusOfKey(key)).toBe(200);
    expect(await statusOfSession(session)).toBe(200);
    const nothing = { companies: 0, apiKeys: 0, sessions: 0 };
    const again = await succeed(`${command} --apply yes`);
    expect(again.json).toEqual({ applied: true, ...nothing });
  });

  it("takes all companies together where none is named", async () => {
    const command = `revoke-credentials --created-before ${betweenThem}`;
    // With the company that the first start has made.
    expect((await succeed(command)).json).toMatchObject({ companies: 2, apiKeys: 2 });
    await succeed(`${command} --apply yes`);
    await becomes(() => statusOfKey(elder.apiKey), 401);
    await becomes(() => statusOfSession(elderSession), 401);
    expect(await statusOfKey(acme.apiKey)).toBe(200);
  });

  it("refuses flags that make no sense, and an unknown company", async () => {
    const time = "2026-01-01T00:00:00Z";
    const cases: [string, string[]][] = [
      ["--created-before", ["--created-before", "yesterday"]],
      ["--created-before", ["--created-before", "2026-01-01T00:00:00"]],
      ["--created-before", ["--created-before", "9999-01-01T00:00:00Z"]],
      ["--kinds", ["--created-before", time, "--kinds", "passwords"]],
      ["--company", ["--created-before", time, "--company", "acme"]],
      ["--apply", ["--created-before", time, "--apply", "maybe"]],
    ];
    for (const [flag, words] of cases) {
      expect(await refusal("revoke-credentials", ...words)).toContain(flag);
    }
    const nobody = "01900000-0000-7000-8000-000000000000";
    const outcome = await run(`revoke-credentials --created-before ${time} --company ${nobody}`);
    expect(outcome).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("NOT_FOUND") });
  });
});
