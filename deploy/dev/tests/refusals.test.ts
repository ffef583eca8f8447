import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "@jest/globals";
import { freePort } from "@workflow/testkit";
import { readCommandLine } from "../src/admin/command-line.ts";
import { readAdminSettings } from "../src/admin/settings.ts";
import { UsageError } from "../src/admin/usage-error.ts";
import {
  cleanUp,
  failToStart,
  launchProgram,
  postgresProcesses,
  runAdmin,
  temporaryFolder,
  testSettings,
} from "./support/system.ts";

const START = join(import.meta.dirname, "../src/start.ts");
/** Another may not mount a small disk. */
const itAsRoot = process.getuid?.() === 0 ? it : it.skip;

afterAll(cleanUp);

describe("a start that is refused", () => {
  it("names every wrong, misspelt or unavailable setting at once and does nothing else", async () => {
    const dataDir = await temporaryFolder();
    const { exitCode, stdout, stderr } = await failToStart({
      ...(await testSettings(dataDir)),
      PORT: "80800",
      TASK_RUNTIME: "airflow",
      RATE_LIMIT_READS: "5",
      SECRETS_KEK: "c2hvcnQ=",
      AIRWALLEX_BASE_URL: "nowhere",
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    for (const name of ["PORT", "TASK_RUNTIME", "RATE_LIMIT_READS", "AIRWALLEX_BASE_URL"]) {
      expect(stderr).toMatch(new RegExp(`^ {2}${name}: `, "m"));
    }
    expect(stderr).not.toContain("c2hvcnQ=");
    expect(stderr).not.toContain("    at ");
    expect(await readdir(dataDir)).toEqual([]);
  });

  it("says that restate is not available", async () => {
    const settings = await testSettings(await temporaryFolder());
    const { exitCode, stderr } = await failToStart({ ...settings, TASK_RUNTIME: "restate" });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/TASK_RUNTIME: "restate" is not available/);
  });

  it("names the settings of ports in use and leaves nothing running", async () => {
    const dataDir = await temporaryFolder();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const settings = { ...(await testSettings(dataDir)), RUNS_GRPC_ADDR: `127.0.0.1:${port}` };
    const { exitCode, stdout, stderr } = await failToStart({ ...settings, PORT: String(port) });
    other.close();
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(`PORT: port ${port} is in use by another program.`);
    expect(stderr).toContain(`RUNS_GRPC_ADDR: port ${port} is also that of PORT.`);
    expect(await postgresProcesses(dataDir)).toEqual([]);
    // The file of the lock is the only one that stays.
    expect(await readdir(dataDir)).toEqual(["lock"]);
  });

  it("names the setting of an address that this machine does not have", async () => {
    const settings = await testSettings(await temporaryFolder());
    const given = { METRICS_HOST: "192.0.2.1", METRICS_PORT: String(await freePort()) };
    const { exitCode, stderr } = await failToStart({ ...settings, ...given });
    expect(exitCode).toBe(1);
    expect(stderr.trim()).toBe("METRICS_HOST: 192.0.2.1 is no address of this machine.");
  });

  itAsRoot("names DATA_DIR when its disk is full", async () => {
    const dataDir = await temporaryFolder();
    const node = `exec '${process.execPath}' '${START}'`;
    const script = `mount -t tmpfs -o size=4k none "$DATA_DIR" && ${node}`;
    const words = ["--mount", "sh", "-c", script];
    const outcome = await launchProgram("unshare", words, await testSettings(dataDir)).ended;
    expect(outcome).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `DATA_DIR: there is no space left for ${dataDir} (ENOSPC).\n`,
    });
  });

  it("names DATA_DIR when it is no folder", async () => {
    const file = join(await temporaryFolder(), "file");
    await writeFile(file, "");
    const { exitCode, stderr } = await failToStart(await testSettings(file));
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`DATA_DIR: the folder ${file} cannot be used`);
  });

  it("names DATABASE_URL when nobody answers there, without its password", async () => {
    const settings = await testSettings(await temporaryFolder());
    const DATABASE_URL = `postgresql://someone:hushhush@127.0.0.1:${await freePort()}/db`;
    const { exitCode, stderr } = await failToStart({ ...settings, DATABASE_URL });
    expect(exitCode).toBe(1);
    expect(stderr).toContain("DATABASE_URL");
    expect(stderr).toContain("ECONNREFUSED");
    expect(stderr).not.toContain("hushhush");
  });
});

describe("an admin command that is not understood", () => {
  const company = "01900000-0000-7000-8000-000000000000";
  const cases: [what: string, words: string[], message: string][] = [
    ["no command", [], "a command is missing"],
    ["an unknown command", ["rotate-keys"], '"rotate-keys" is not a command'],
    ["an unknown flag", ["migrate", "--fast"], "--fast"],
    ["missing flags", ["create-company", "--name", "N"], "needs --email, --password-stdin"],
    ["an unknown scope", ["mint-token", "--company", company, "--scopes", "all"], '"all"'],
    [
      "a company that is no id",
      ["mint-token", "--company", "x", "--scopes", "runs:read"],
      "--company",
    ],
    [
      "a ttl that is no number",
      ["mint-token", "--company", company, "--scopes", "runs:read", "--ttl", "1h"],
      "--ttl",
    ],
    [
      "an unknown role",
      [
        "create-user",
        "--company",
        company,
        "--email",
        "a@b.io",
        "--password",
        "12345678",
        "--role",
        "boss",
      ],
      "--role must be one of owner, admin, member, viewer",
    ],
  ];

  it.each(cases)("is refused for %s", async (_what, words, message) => {
    const run = async () => {
      const line = readCommandLine(words);
      return line?.command.run(readAdminSettings({ DATA_DIR: "/nowhere" }), line.values);
    };
    await expect(run()).rejects.toThrow(UsageError);
    await expect(run()).rejects.toThrow(message);
  });

  it("exits with 2 and says why on stderr, with --json as JSON", async () => {
    const [asText, asJson] = await Promise.all([
      runAdmin({}, "migrate --fast"),
      runAdmin({}, "migrate --fast --json"),
    ]);
    expect(asText).toMatchObject({ exitCode: 2, stdout: "" });
    expect(asText.stderr).toContain("--fast");
    expect(asJson).toMatchObject({ exitCode: 2, stdout: "" });
    expect(JSON.parse(asJson.stderr)).toEqual({
      error: { code: "BAD_REQUEST", message: expect.stringContaining("--fast") },
    });
  });

  it("prints its commands when asked for help", async () => {
    const { exitCode, stdout } = await runAdmin({}, "help");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("create-company --name NAME --email EMAIL --password-stdin");
  });
});
