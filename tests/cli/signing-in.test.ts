import { readFile, stat, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { freePort, startHttpDouble } from "@workflow/testkit";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import { buildCli } from "./support/command.ts";
import type { Cli } from "./support/command.ts";

let system: WholeSystem;
let cli: Cli;
beforeAll(async () => {
  system = await startWholeSystem();
  cli = await buildCli();
});
afterAll(async () => {
  await cli?.close();
  await system?.stop();
});
beforeEach(async () => {
  for (const profile of ["default", "other"]) await cli.run(["logout", "--profile", profile]);
});

const byPassword = (): readonly string[] => {
  const { email } = system.acme.owner;
  return ["login", "--url", system.origin, "--email", email, "--password-stdin"];
};

describe("a session", () => {
  test("begins in a terminal without showing the password, changes things, and ends", async () => {
    const { email, password } = system.acme.owner;
    const login = cli.terminal(["login", "--url", system.origin]);
    await login.shows("E-mail:");
    login.type(`${email}\r`);
    await login.shows("Password:");
    login.type(`${password}\r`);
    expect(await login.ended).toBe(0);
    expect(login.screen()).toContain(`as ${email} of Acme`);
    expect(login.screen()).not.toContain(password);
    const config = await readFile(cli.configFile, "utf8");
    expect(config).not.toContain(password);
    expect((await stat(cli.configFile)).mode & 0o777).toBe(0o600);
    const who = await cli.run(["whoami"]);
    expect(who).toMatchObject({ code: 0, stdout: expect.stringContaining(email) });
    const created = await cli.run(["workflows", "push", await newFile("By session"), "--yes"]);
    expect(created.stderr).toBe("");
    expect((await cli.run(["logout"])).code).toBe(0);
    expect(await cli.run(["whoami"])).toMatchObject({ code: 4 });
  });

  test("that has ended says how to go on", async () => {
    await cli.run(byPassword(), { input: system.acme.owner.password });
    const config = JSON.parse(await readFile(cli.configFile, "utf8"));
    const { cookie } = config.profiles.default.session;
    const ended = await fetch(`${system.origin}/api/v1/auth/session`, {
      method: "DELETE",
      headers: { cookie, origin: system.origin },
    });
    expect(ended.status).toBe(200);
    const list = await cli.run(["runs", "list"]);
    expect(list).toMatchObject({
      code: 4,
      stdout: "",
      stderr: expect.stringContaining("workflowctl login"),
    });
    expect(list.stderr).toMatch(/request id: [\w-]+/);
  });

  test("does not begin with a wrong password", async () => {
    const login = await cli.run(byPassword(), { input: "wrong horse" });
    expect(login).toMatchObject({ code: 4, stdout: "" });
    expect(await cli.run(["profiles", "list", "--json"])).toMatchObject({ stdout: "[]\n" });
  });

  test("is not sent to another server than its own", async () => {
    await cli.run(byPassword(), { input: system.acme.owner.password });
    const stranger = await startHttpDouble(() => ({ body: { success: true, data: [] } }));
    const list = await cli.run(["runs", "list", "--url", stranger.url]);
    await stranger.close();
    expect(list).toMatchObject({ code: 4, stderr: expect.stringContaining("not to") });
    expect(stranger.requests).toHaveLength(0);
  });
});

describe("an API key", () => {
  test("comes by standard input and is shown nowhere", async () => {
    const { key } = system.acme;
    const login = await cli.run(["login", "--url", system.origin, "--api-key-stdin"], {
      input: `${key}\n`,
    });
    expect(login).toMatchObject({ code: 0 });
    const listed = await cli.run(["profiles", "list"]);
    expect(login.stdout + login.stderr + listed.stdout).not.toContain(key.slice(4));
    expect((await cli.run(["workflows", "list"])).code).toBe(0);
  });

  test("of few scopes signs in as well", async () => {
    const key = await system.createKey(system.acme, ["runs:read"]);
    const args = ["login", "--url", system.origin, "--api-key-stdin"];
    expect(await cli.run(args, { input: key })).toMatchObject({ code: 0 });
    expect(await cli.run(["runs", "list"])).toMatchObject({ code: 0 });
    expect(await cli.run(["workflows", "list"])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("scope"),
    });
  });

  test("that is wrong is not kept", async () => {
    const args = ["login", "--url", system.origin, "--api-key-stdin"];
    const login = await cli.run(args, { input: "wfk_wrong" });
    expect(login).toMatchObject({ code: 4, stdout: "" });
    expect(await cli.run(["profiles", "list", "--json"])).toMatchObject({ stdout: "[]\n" });
  });

  test("of the environment goes before the profile's", async () => {
    await cli.run(["login", "--url", system.origin, "--api-key-stdin"], { input: system.acme.key });
    const path = await newFile("Of the environment");
    await cli.run(["workflows", "push", path, "--yes"]);
    const foreign = await cli.run(["workflows", "get", path], {
      env: { WORKFLOW_API_KEY: system.globex.key },
    });
    expect(foreign.code).toBe(5);
    expect((await cli.run(["workflows", "get", path])).code).toBe(0);
  });
});

describe("profiles", () => {
  test("stand side by side, and one counts when none is named", async () => {
    const login = (profile: string, input: string) =>
      cli.run(["login", "--profile", profile, "--url", system.origin, "--api-key-stdin"], {
        input,
      });
    await login("default", system.acme.key);
    await login("other", system.globex.key);
    expect((await cli.run(["profiles", "list"])).stdout).toMatch(/^\* +other /m);
    expect((await cli.run(["profiles", "use", "default"])).code).toBe(0);
    const path = await newFile("Side by side");
    await cli.run(["workflows", "push", path, "--yes"]);
    expect((await cli.run(["workflows", "get", path])).code).toBe(0);
    expect((await cli.run(["workflows", "get", path, "--profile", "other"])).code).toBe(5);
    expect(await cli.run(["profiles", "use", "nobody"])).toMatchObject({ code: 2 });
  });

  test("in a damaged file are told without showing it", async () => {
    await cli.run(["login", "--url", system.origin, "--api-key-stdin"], { input: system.acme.key });
    const whole = await readFile(cli.configFile, "utf8");
    await writeFile(cli.configFile, whole.slice(0, -10));
    const list = await cli.run(["runs", "list"]);
    await writeFile(cli.configFile, whole);
    expect(list).toMatchObject({ code: 2, stderr: expect.stringContaining("damaged") });
    expect(list.stderr).not.toContain(system.acme.key);
  });
});

describe("a server", () => {
  test("that is not there is told by the exit code, and the address", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const list = await cli.run(["runs", "list", "--url", url], {
      env: { WORKFLOW_API_KEY: "wfk_x" },
    });
    expect(list).toMatchObject({
      code: 3,
      stdout: "",
      stderr: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test("that is another one is told", async () => {
    const stranger = await startHttpDouble(() => ({ body: { hello: "world" } }));
    const env = { WORKFLOW_API_KEY: "wfk_x", WORKFLOW_URL: stranger.url };
    const list = await cli.run(["runs", "list"], { env });
    await stranger.close();
    expect(list).toMatchObject({ code: 3, stderr: expect.stringContaining("not of this API") });
  });

  test("that limits requests is waited for, and told when it asks for too long", async () => {
    const refusal = {
      success: false,
      error: { code: "RATE_LIMITED", message: "Rate limit exceeded." },
    };
    const waits = ["1", "600"];
    const double = await startHttpDouble(() => {
      const wait = waits.shift() ?? "";
      return {
        status: 429,
        body: refusal,
        headers: { "retry-after": wait, "x-request-id": "req-7" },
      };
    });
    const env = { WORKFLOW_API_KEY: "wfk_x", WORKFLOW_URL: double.url };
    const list = await cli.run(["runs", "list"], { env });
    await double.close();
    expect(list).toMatchObject({ code: 7, stdout: "" });
    expect(list.stderr).toContain("for 1 s; waiting");
    expect(list.stderr).toContain("Try again in 600 s.");
    expect(list.stderr).toContain("request id: req-7");
  });

  test("has an address that is one", async () => {
    for (const url of ["nonsense", "ftp://a.example", "http://a:b@c.example"]) {
      const list = await cli.run(["runs", "list", "--url", url], {
        env: { WORKFLOW_API_KEY: "k" },
      });
      expect(list).toMatchObject({ code: 2, stdout: "" });
      expect(list.stderr).not.toContain("a:b");
    }
  });
});

let files = 0;

/** A new file of a small workflow. */
async function newFile(name: string): Promise<string> {
  files += 1;
  const path = `${cli.dir}/${files}.workflow.json`;
  await writeFile(path, JSON.stringify({ name, trigger: { type: "api" }, steps: [] }));
  return path;
}
